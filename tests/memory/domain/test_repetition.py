"""What adds nothing to a statement, and what makes one narrower or wider."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.repetition import adds_nothing, covers, is_qualified

SIGNS = "Ida signs invoices."
WORDS = st.lists(
    st.sampled_from(["Ida", "signs", "no", "invoices", "up", "to", "5,000", "euros", "the"]),
    min_size=1,
    max_size=6,
).map(" ".join)


@pytest.mark.parametrize(
    ("known", "new"),
    [
        (SIGNS, "Ida signs the invoices"),
        ("Sarah lives in Graz with her brother.", "Sarah lives in Graz."),
        ("The kiln holds 40 bowls.", "The kiln holds forty bowls."),
        ("The rent is $1,200.", "Rent is 1200 dollars."),
    ],
)
def test_less_of_the_same_adds_nothing(known: str, new: str) -> None:
    assert adds_nothing(known=known, new=new)


@pytest.mark.parametrize(
    ("known", "new"),
    [
        (SIGNS, "Ida signs invoices up to 5,000 euros."),
        ("Ida signs invoices up to 5,000 euros.", SIGNS),
        ("Ida signs invoices.", "Ida signs contracts."),
        ("Ida signs invoices.", "Ida does not sign invoices."),
        ("Ida does not sign invoices.", "Ida signs invoices."),
        ("Ida signs only invoices.", "Ida signs invoices."),
        ("Ida's mother signs invoices.", "Ida signs invoices."),
        ("Anna reports to Ben in Graz.", "Ben reports to Anna."),
        ("The kiln holds 40 bowls.", "The kiln holds 41 bowls."),
        ("Sarah was a manager.", "Sarah is a manager."),
        ("Ida signs all invoices.", "Ida signs some invoices."),
    ],
)
def test_another_word_number_limit_or_order_is_something_new(known: str, new: str) -> None:
    assert not adds_nothing(known=known, new=new)


@given(WORDS, WORDS)
def test_what_adds_nothing_is_covered_and_repeats_itself(one: str, other: str) -> None:
    assert adds_nothing(known=one, new=one)
    if adds_nothing(known=one, new=other):
        assert covers(one, other)
    assert is_qualified(one, other) == is_qualified(other, one)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (SIGNS, "Ida signs invoices up to 5,000 euros.", True),
        (SIGNS, "On Fridays Ida signs invoices.", True),
        ("The shop is open.", "The shop is open until 8 pm.", True),
        (SIGNS, SIGNS, False),
        (SIGNS, "Ida signs no invoices.", False),
        (SIGNS, "Ida no longer signs invoices.", False),
        ("The review on Friday stands.", "The review on Friday no longer stands.", False),
        ("The limit is 100.", "The limit is 500 from May on.", False),
        ("The review is on Friday.", "The review on Friday is cancelled.", False),
    ],
)
def test_a_limit_or_a_circumstance_more_qualifies(one: str, other: str, expected: bool) -> None:
    assert is_qualified(one, other) == expected
