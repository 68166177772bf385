"""Differences that people can read."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from memory.domain.differences import FieldChange, changed_fields, marked_changes


def test_a_changed_word_is_marked() -> None:
    marked = marked_changes("Sarah lives in Berlin.", "Sarah lives in Paris.")

    assert marked == "Sarah lives in [-Berlin-]{+Paris+}."


def test_a_first_text_came_as_a_whole() -> None:
    assert marked_changes("", "Sarah lives in Paris.") == "{+Sarah lives in Paris.+}"


@given(
    st.text(alphabet="ab c.\n", max_size=60),
    st.text(alphabet="ab c.\n", max_size=60),
)
def test_both_texts_can_be_read_from_the_marks(before: str, after: str) -> None:
    marked = marked_changes(before, after)

    old = re.sub(r"\[-(.*?)-\]", r"\1", re.sub(r"\{\+.*?\+\}", "", marked, flags=re.S), flags=re.S)
    new = re.sub(r"\{\+(.*?)\+\}", r"\1", re.sub(r"\[-.*?-\]", "", marked, flags=re.S), flags=re.S)
    assert (old, new) == (before, after)


def test_a_long_text_is_compared_by_line() -> None:
    lines = [f"line {number}: " + "word " * 60 for number in range(40)]
    changed = [*lines[:7], "other", *lines[8:]]

    marked = marked_changes("\n".join(lines), "\n".join(changed))

    assert "{+other\n+}" in marked
    assert marked.count("[-") == 1


def test_fields_that_differ_are_named_from_and_to() -> None:
    before = {"status": "active", "importance": 5, "agent_id": "k", "tags": ["a"], "salt": "x"}
    after = {"status": "active", "importance": 9, "agent_id": None, "tags": ["a"], "salt": "y"}

    assert changed_fields(before, after, names={"k": "kyra"}) == [
        FieldChange("agent", "kyra", None),
        FieldChange("importance", 5, 9),
    ]


def test_of_a_new_row_only_what_says_something_is_named() -> None:
    state: dict[str, object] = {
        "status": "active",
        "tags": [],
        "subject": "",
        "agent_id": None,
        "is_pinned": False,
    }

    assert changed_fields(None, state, names={}) == [
        FieldChange("is_pinned", None, False),
        FieldChange("status", None, "active"),
    ]
