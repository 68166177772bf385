"use strict";

for (const button of document.querySelectorAll("[data-copy]")) {
    const field = document.getElementById(button.dataset.copy);
    button.hidden = false;
    button.addEventListener("click", async () => {
        field.select();
        // Browsers offer the clipboard over https and on localhost alone.
        if (navigator.clipboard) {
            await navigator.clipboard.writeText(field.value);
        } else {
            document.execCommand("copy");
        }
        button.textContent = button.dataset.copied;
    });
}
