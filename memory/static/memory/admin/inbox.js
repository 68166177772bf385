// The form of a new text on an item of the inbox: it begins with A, B or both, and Ctrl+Enter saves it.
(() => {
    "use strict";
    const merge = document.getElementById("merge");
    const text = document.getElementById("id_content");
    if (!merge || !text) return;

    merge.addEventListener("toggle", () => {
        if (!merge.open) return;
        text.focus();
        text.setSelectionRange(text.value.length, text.value.length);
    });
    merge.querySelectorAll("[data-start]").forEach((link) => {
        link.addEventListener("click", (event) => {
            event.preventDefault();
            text.value = link.dataset.start;
            text.focus();
        });
    });
    text.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
        event.preventDefault();
        document.querySelector("[data-submit-with='id_content']")?.click();
    });
})();
