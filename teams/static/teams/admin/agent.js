"use strict";
/* The page of an agent: the JSON as a tab of its own, and the prompt beside the form as it stands. */
(function () {
    const WAIT_MS = 600;

    function tabs(form) {
        const json = form.querySelector("fieldset.agent-json");
        if (!json) {
            return;
        }
        const both = form.querySelector("fieldset.agent-save");
        const shared = new Set([json, both, form.querySelector("fieldset.module")]);
        const fields = [...form.querySelectorAll("fieldset.module")].filter(
            (part) => !shared.has(part) && part.querySelector("input, select, textarea")
        );
        const list = document.createElement("div");
        list.className = "agent-tabs";
        list.setAttribute("role", "tablist");
        list.setAttribute("aria-label", "The document");
        const choices = [
            ["Form", fields],
            ["JSON", [json]],
        ].map(([title, parts]) => {
            const button = document.createElement("button");
            button.type = "button";
            button.textContent = title;
            button.setAttribute("role", "tab");
            list.append(button);
            return { button, parts };
        });

        function choose(chosen) {
            choices.forEach(({ button, parts }) => {
                const isChosen = button === chosen;
                button.setAttribute("aria-selected", String(isChosen));
                button.tabIndex = isChosen ? 0 : -1;
                parts.forEach((part) => (part.hidden = !isChosen));
            });
        }

        choices.forEach(({ button }, place) => {
            button.addEventListener("click", () => choose(button));
            button.addEventListener("keydown", (event) => {
                if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
                    const next = choices[(place + 1) % choices.length].button;
                    choose(next);
                    next.focus();
                }
            });
        });
        fields[0].before(list);
        choose(choices[json.querySelector(".errors") ? 1 : 0].button);
    }

    function preview(form, section) {
        const part = section.querySelector("#preview-part");
        let timer = null;
        let under_way = null;

        async function show() {
            if (under_way) {
                under_way.abort();
            }
            under_way = new AbortController();
            part.setAttribute("aria-busy", "true");
            try {
                const answer = await fetch(section.dataset.url, {
                    method: "POST",
                    body: new FormData(form),
                    headers: { "X-Preview-Part": "yes" },
                    signal: under_way.signal,
                });
                part.innerHTML = answer.ok
                    ? await answer.text()
                    : "<p>The preview could not be made. Load the page again.</p>";
            } catch (error) {
                if (error.name === "AbortError") {
                    return;
                }
                part.textContent = "The server cannot be reached; the preview is not up to date.";
            }
            part.setAttribute("aria-busy", "false");
        }

        function soon() {
            clearTimeout(timer);
            timer = setTimeout(show, WAIT_MS);
        }

        form.addEventListener("input", soon);
        form.addEventListener("change", soon);
        section.querySelector(".preview-button").addEventListener("click", (event) => {
            event.preventDefault();
            clearTimeout(timer);
            show();
        });
        show();
    }

    function begin() {
        const form = document.getElementById("agent_form");
        if (!form) {
            return;
        }
        tabs(form);
        const section = document.getElementById("preview");
        if (section) {
            preview(form, section);
        }
    }

    if (document.readyState === "loading") {
        document.addEventListener("DOMContentLoaded", begin);
    } else {
        begin();
    }
})();
