"use strict";
/* Moves each slider with its number, and shows each number's share of the sum of its group.
   Listen to "input" events of the numbers to follow changes; both ways of changing one fire it. */
(function () {
    function numberOf(slider) {
        return slider.querySelector(".slider-number input");
    }

    function valueOf(slider) {
        const typed = numberOf(slider).value.trim();
        const value = Number(typed === "" ? slider.dataset.default : typed);
        return Number.isFinite(value) && value > 0 ? value : 0;
    }

    function showShares(group) {
        const all = [...document.querySelectorAll("[data-slider]")].filter(
            (slider) => slider.dataset.slider === group
        );
        const sum = all.reduce((total, slider) => total + valueOf(slider), 0);
        for (const slider of all) {
            const share = sum > 0 ? Math.round((100 * valueOf(slider)) / sum) : 0;
            slider.querySelector(".slider-share").value = `${share} %`;
        }
    }

    function moveRange(slider) {
        const range = slider.querySelector(".slider-range");
        const value = valueOf(slider);
        if (value > Number(range.max)) {
            range.max = String(value);
        }
        range.value = String(value);
    }

    function begin(slider) {
        const range = slider.querySelector(".slider-range");
        range.hidden = false;
        range.addEventListener("input", () => {
            const number = numberOf(slider);
            number.value = range.value;
            number.dispatchEvent(new Event("input", { bubbles: true }));
        });
        numberOf(slider).addEventListener("input", () => {
            moveRange(slider);
            showShares(slider.dataset.slider);
        });
        moveRange(slider);
        showShares(slider.dataset.slider);
    }

    function beginAll() {
        document.querySelectorAll("[data-slider]").forEach(begin);
    }

    if (document.readyState === "loading") {
        document.addEventListener("DOMContentLoaded", beginAll);
    } else {
        beginAll();
    }
})();
