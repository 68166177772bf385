// Presses what a page offers by a key: the visible element with data-key="a" is clicked on "a".
// `?` follows a link with data-key="?". Nothing happens while somebody types into a field, with
// Ctrl, Alt or Meta held, while a key is held down, or once a form is on its way.
(() => {
    "use strict";
    if (window.palimpsestKeys) return;
    window.palimpsestKeys = true;

    let isSent = false;
    document.addEventListener("submit", (event) => {
        const form = event.target;
        const target = event.submitter?.formTarget || form.target;
        // A search may be sent again, and what opens a window of its own leaves this one as it is.
        if (form.method !== "post" || (target && target !== "_self")) return;
        if (isSent) event.preventDefault();
        isSent = !event.defaultPrevented || isSent;
    });
    window.addEventListener("pageshow", () => { isSent = false; });
    window.addEventListener("beforeunload", (event) => {
        // This runs once the question about unsaved changes was answered: the page may have stayed.
        setTimeout(() => { if (event.defaultPrevented) isSent = false; });
    });

    const isTyping = (target) =>
        target instanceof Element &&
        (target.isContentEditable || target.closest("input:not([type=checkbox]):not([type=radio]):not([type=submit]):not([type=button]), textarea, select") !== null);

    document.addEventListener("keydown", (event) => {
        if (event.defaultPrevented || event.repeat || event.isComposing || isSent) return;
        if (event.ctrlKey || event.altKey || event.metaKey) return;
        if (isTyping(event.target)) {
            if (event.key === "Escape") event.target.blur();
            return;
        }
        const wanted = event.key.length === 1 ? event.key.toLowerCase() : event.key;
        const found = [...document.querySelectorAll("[data-key]")].find(
            (each) => each.dataset.key === wanted && !each.disabled && each.getClientRects().length > 0,
        );
        if (!found) return;
        event.preventDefault();
        found.click();
    });
})();
