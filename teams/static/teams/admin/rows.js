"use strict";
/* Adds rows to a list of a form and removes them; what is left empty is never sent as a row. */
(function () {
    function inputsOf(row) {
        return [...row.querySelectorAll("input, select, textarea")];
    }

    function isEmpty(row) {
        return inputsOf(row).every((input) => input.value.trim() === "");
    }

    function rowsOf(list) {
        return [...list.querySelectorAll(".rows-row")];
    }

    function tellChange(list) {
        list.dispatchEvent(new Event("input", { bubbles: true }));
    }

    function watch(list, row, add) {
        const button = row.querySelector(".rows-remove");
        button.hidden = false;
        button.addEventListener("click", () => {
            const rows = rowsOf(list);
            if (rows.length === 1) {
                inputsOf(row).forEach((input) => (input.value = ""));
                inputsOf(row)[0].focus();
            } else {
                const place = rows.indexOf(row);
                const heir = rows[place + 1] || rows[place - 1];
                const first = inputsOf(row)[0];
                if (first.id) {
                    inputsOf(heir)[0].id = first.id;
                }
                row.remove();
                inputsOf(heir)[0].focus();
            }
            tellChange(list);
        });
        inputsOf(row).forEach((input) =>
            input.addEventListener("keydown", (event) => {
                if (event.key === "Enter" && input.tagName === "INPUT") {
                    event.preventDefault();
                    add();
                }
            })
        );
    }

    function begin(field) {
        const list = field.querySelector(".rows-list");
        const blank = field.querySelector("template");
        const button = field.querySelector(".rows-add");

        function add() {
            const empty = rowsOf(list).find(isEmpty);
            if (empty) {
                inputsOf(empty)[0].focus();
                return;
            }
            const row = blank.content.cloneNode(true).querySelector(".rows-row");
            list.append(row);
            watch(list, row, add);
            inputsOf(row)[0].focus();
        }

        // With a button that adds rows, one empty row is enough to begin with.
        rowsOf(list)
            .filter(isEmpty)
            .slice(1)
            .forEach((row) => row.remove());
        rowsOf(list).forEach((row) => watch(list, row, add));
        button.hidden = false;
        button.addEventListener("click", add);
    }

    function beginAll() {
        document.querySelectorAll("[data-rows]").forEach(begin);
    }

    if (document.readyState === "loading") {
        document.addEventListener("DOMContentLoaded", beginAll);
    } else {
        beginAll();
    }
})();
