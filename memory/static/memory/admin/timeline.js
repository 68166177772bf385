// The slider of the page Time travel: moving it shows the memory of that moment without a new page.
// Without this script the form does the same.
(function () {
    "use strict";

    const PAUSE_MS = 250;
    const form = document.getElementById("travel");
    const field = document.getElementById("id_at");
    if (!form || !field) {
        return;
    }
    const parts = new Intl.DateTimeFormat("en-CA", {
        timeZone: form.dataset.zone,
        hourCycle: "h23",
        year: "numeric",
        month: "2-digit",
        day: "2-digit",
        hour: "2-digit",
        minute: "2-digit",
        second: "2-digit",
    });
    let timer = 0;
    let asked = null;

    // A moment in seconds as the field holds it: in the zone of the page, not of the browser.
    function localText(seconds) {
        const of = {};
        for (const part of parts.formatToParts(new Date(seconds * 1000))) {
            of[part.type] = part.value;
        }
        return `${of.year}-${of.month}-${of.day}T${of.hour}:${of.minute}:${of.second}`;
    }

    function address() {
        const query = new URLSearchParams(new FormData(form));
        for (const [name, value] of [...query]) {
            if (!value) {
                query.delete(name);
            }
        }
        return `${window.location.pathname}?${query}`;
    }

    // Put the new page's results and line in place of these; the slider in hand stays.
    async function show(url) {
        const past = document.getElementById("past");
        if (asked) {
            asked.abort();
        }
        asked = new AbortController();
        past.setAttribute("aria-busy", "true");
        try {
            const answer = await fetch(url, { signal: asked.signal, credentials: "same-origin" });
            if (!answer.ok || answer.redirected) {
                window.location.assign(url);
                return;
            }
            const page = new DOMParser().parseFromString(await answer.text(), "text/html");
            const results = page.getElementById("past");
            if (!results) {
                window.location.assign(url);
                return;
            }
            past.replaceWith(results);
            const mark = page.getElementById("moment-mark");
            if (mark) {
                document.getElementById("moment-mark").replaceWith(mark);
            }
            window.history.replaceState(null, "", url);
        } catch (error) {
            if (error.name !== "AbortError") {
                window.location.assign(url);
            }
        }
    }

    const slider = document.getElementById("moment-slider");
    if (!slider) {
        return;
    }
    slider.hidden = false;
    // An arrow key moves by an hour, or by a part of a long log.
    const length = Number(slider.max) - Number(slider.min);
    slider.step = String(Math.max(1, Math.min(3600, Math.floor(length / 200))));
    slider.addEventListener("input", function () {
        field.value = localText(Number(slider.value));
        slider.setAttribute("aria-valuetext", field.value.replace("T", " "));
        window.clearTimeout(timer);
        timer = window.setTimeout(() => show(address()), PAUSE_MS);
    });
})();
