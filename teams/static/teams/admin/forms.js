"use strict";
/* Forms of the admin: leaving one with unsaved changes asks first, the first error is shown, and a
   file is sent with its progress. */
(() => {
    let forms = [];
    let stored = new Map();
    let isRefused = false;
    let isSent = false;
    let isSending = false;

    function valueOf(field, isDefault) {
        if (field.type === "checkbox" || field.type === "radio") {
            return (isDefault ? field.defaultChecked : field.checked) ? field.value : "";
        }
        if (field.options) {
            const options = [...field.options];
            const chosen = options.filter((o) => (isDefault ? o.defaultSelected : o.selected));
            const usual = field.multiple ? [] : options.slice(0, 1);
            return (chosen.length ? chosen : usual).map((option) => option.value).join(",");
        }
        return isDefault ? field.defaultValue : field.value;
    }

    // What is empty counts as left out, as in the lists to which rows are added.
    function stateOf(form, isDefault = false) {
        return [...form.elements]
            .filter((field) => field.name && field.type !== "submit" && !field.closest("[data-aside]"))
            .map((field) => [field.name, valueOf(field, isDefault)])
            .filter(([, value]) => value)
            .join("\n");
    }

    function showFirstError() {
        // Or the field that the address names, as results of the search do.
        const named = location.hash && document.getElementById(location.hash.slice(1));
        const error = document.querySelector("main [data-field] .errorlist") || (named && named.closest("[data-field]"));
        if (!error) return;
        const panel = error.closest("[role=tabpanel]");
        if (panel) document.getElementById(panel.getAttribute("aria-labelledby")).click();
        const field = error.closest("[data-field]");
        requestAnimationFrame(() => {
            field.scrollIntoView({ block: "center" });
            field.querySelector("input:not([type=hidden]), select, textarea")?.focus({ preventScroll: true });
        });
    }

    function send(form, progress) {
        if (isSending) return;
        isSending = true;
        const bar = progress.querySelector("progress");
        const said = progress.querySelector("[role=status]");
        const request = new XMLHttpRequest();
        progress.hidden = false;
        said.textContent = "Sending the file …";
        request.upload.addEventListener("progress", ({ loaded, total }) => {
            bar.max = total;
            bar.value = loaded;
            if (loaded === total) said.textContent = "Checking the file …";
        });
        request.addEventListener("error", () => {
            isSending = false;
            said.textContent = "The server cannot be reached.";
        });
        request.addEventListener("load", () => {
            isSent = false;
            const page = new DOMParser().parseFromString(request.responseText, "text/html");
            if (request.responseURL !== location.href.split("#")[0]) {
                isSent = true;
                location.assign(request.responseURL);
                return;
            }
            isSending = false;
            if (request.status === 200) {
                document.querySelector("main").replaceWith(page.querySelector("main"));
                begin();
            } else {
                said.textContent = `The server refused the file (${request.status}).`;
            }
        });
        request.open("POST", location.href);
        request.send(new FormData(form));
    }

    function begin() {
        forms = [...document.querySelectorAll("main form[id$=_form]")];
        stored = new Map(forms.map((form) => [form, stateOf(form, true)]));
        isRefused = Boolean(document.querySelector("main .errornote"));
        for (const form of forms) {
            // Else Enter in a field would press these in place of Save.
            form.querySelectorAll("button[formaction]").forEach((button) => { button.type = "button"; });
            const progress = form.querySelector("[data-upload]");
            if (progress) {
                form.addEventListener("submit", (event) => {
                    event.preventDefault();
                    send(form, progress);
                });
            }
        }
        showFirstError();
    }

    window.addEventListener("load", begin);
    window.addEventListener("submit", (event) => {
        const target = event.submitter?.formTarget || event.target.target;
        const leaves = !event.defaultPrevented && (!target || target === "_self");
        isSent = isSent || (leaves && forms.includes(event.target));
    });
    window.addEventListener("pageshow", () => { isSent = isSending = false; });
    window.addEventListener("beforeunload", (event) => {
        const isUnsaved = isRefused || forms.some((form) => stateOf(form) !== stored.get(form));
        if (isUnsaved && !isSent) event.preventDefault();
    });
})();
