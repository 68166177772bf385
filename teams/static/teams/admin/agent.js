"use strict";
/* The page of an agent: the prompt beside the form as it stands. */
(function () {
    const WAIT_MS = 600;

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
        const button = section.querySelector(".preview-button");
        button.addEventListener("click", (event) => {
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
