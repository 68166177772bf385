"use strict";
/* Asks again as soon as a weight or an option changes, and replaces the answer alone.
   Another team or agent, or another endpoint, has other defaults: then the whole page comes. */
(function () {
    const WAIT_MS = 250;
    const form = document.querySelector("[data-playground]");
    const result = document.getElementById("playground-result");
    if (!form || !result) {
        return;
    }
    let timer = 0;
    let asking = null;

    function isAsked() {
        return form.elements.question.value.trim() !== "";
    }

    async function ask() {
        if (!isAsked()) {
            return;
        }
        asking?.abort();
        const own = (asking = new AbortController());
        result.setAttribute("aria-busy", "true");
        try {
            const answer = await fetch(form.action, {
                body: new FormData(form),
                headers: { "X-Playground-Result": "1" },
                method: "POST",
                signal: own.signal,
            });
            if (!answer.ok || answer.redirected) {
                form.requestSubmit();
                return;
            }
            result.innerHTML = await answer.text();
            result.removeAttribute("aria-busy");
        } catch (error) {
            if (error.name !== "AbortError") {
                form.requestSubmit();
            }
        }
    }

    function later() {
        window.clearTimeout(timer);
        timer = window.setTimeout(ask, WAIT_MS);
    }

    function reloads(field) {
        return ["team", "agent", "plan"].includes(field.name);
    }

    // The answer is below the form; after saving, the message is above it.
    form.addEventListener("submit", (event) => {
        const address = form.action.split("#")[0];
        form.action = event.submitter?.name === "save" ? address : `${address}#${result.id}`;
    });
    form.addEventListener("input", (event) => {
        if (event.target.name && event.target.name.startsWith("weight_")) {
            later();
        }
    });
    form.addEventListener("change", (event) => {
        const field = event.target;
        if (reloads(field)) {
            if (field.name === "team") {
                window.location.search = new URLSearchParams({ team: field.value }).toString();
            } else if (isAsked()) {
                form.requestSubmit();
            }
        } else if (field.name && field.name !== "question" && !field.name.startsWith("weight_")) {
            later();
        }
    });
})();
