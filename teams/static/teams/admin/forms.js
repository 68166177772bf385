"use strict";
/* Forms of the admin: leaving one with unsaved changes asks first, and the first error is shown. */
window.addEventListener("load", () => {
    const forms = [...document.querySelectorAll("main form[id$=_form]")];
    let isSent = false;

    // Else Enter in a field would press these in place of Save.
    for (const form of forms) {
        form.querySelectorAll("button[formaction]").forEach((button) => { button.type = "button"; });
    }

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

    const stored = new Map(forms.map((form) => [form, stateOf(form, true)]));
    const error = document.querySelector("main [data-field] .errorlist");
    const isRefused = Boolean(document.querySelector("main .errornote"));

    window.addEventListener("submit", (event) => {
        const target = event.submitter?.formTarget || event.target.target;
        const leaves = !event.defaultPrevented && (!target || target === "_self");
        isSent = isSent || (leaves && forms.includes(event.target));
    });
    window.addEventListener("pageshow", () => { isSent = false; });
    window.addEventListener("beforeunload", (event) => {
        const isUnsaved = isRefused || forms.some((form) => stateOf(form) !== stored.get(form));
        if (isUnsaved && !isSent) event.preventDefault();
    });

    if (error) {
        const panel = error.closest("[role=tabpanel]");
        if (panel) document.getElementById(panel.getAttribute("aria-labelledby")).click();
        const field = error.closest("[data-field]");
        requestAnimationFrame(() => {
            field.scrollIntoView({ block: "center" });
            field.querySelector("input:not([type=hidden]), select, textarea")?.focus({ preventScroll: true });
        });
    }
});
