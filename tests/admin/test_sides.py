"""Two texts side by side: what differs is always seen."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memory.admin.sides import aligned_excerpts, marked

LENGTH = 60
WORDS = st.text(alphabet="ab .", max_size=90)


@given(shared=WORDS, one=WORDS, other=WORDS)
def test_what_is_cut_still_differs_where_the_texts_do(shared: str, one: str, other: str) -> None:
    first, second = shared + one, shared + other

    cut = aligned_excerpts(first, second, length=LENGTH)

    assert all(len(each) <= LENGTH for each in cut)
    assert (cut[0] == cut[1]) == (first.split() == second.split())


@given(shared=WORDS, one=WORDS, other=WORDS, end=WORDS)
def test_marking_changes_no_word(shared: str, one: str, other: str, end: str) -> None:
    text = shared + one + end

    shown = marked(text, shared + other + end)

    assert shown.replace("<mark>", "").replace("</mark>", "") == text


def test_only_the_words_that_differ_are_marked_at_any_length() -> None:
    long = (
        "The plan of the harbour says for every gate and every day of the week without any change"
    )

    shown = marked(f"{long}: {long} gate B opens <first>.", f"{long}: {long} gate D opens <first>.")

    assert shown == f"{long}: {long} gate <mark>B</mark> opens &lt;first&gt;."
    assert marked("Gate B opens.", "Gate D opens.") == "Gate <mark>B</mark> opens."
    assert marked("Two of 3 at 4.", "Two of 5 at 6.") == (
        "Two of <mark>3</mark> at <mark>4</mark>."
    )
