"""Whom a stated memory is about."""

from __future__ import annotations

import pytest

from memory.domain.attribution import people_of

OTTO = ("Otto Kim", "u-12")


@pytest.mark.parametrize(
    "text",
    [
        "Otto broke a wrist in Oslo.",
        "otto likes tea",
        "Kim's wrist is broken.",
        "User is allergic to shellfish.",
        "The user's car is red.",
        "I'm left-handed.",
        "My sister Mia is a doctor.",
        "Prefers herbal tea.",
        "Allergic to shellfish.",
        "The allergy is to shellfish.",
        "Shellfish makes him ill.",
        "Lives in Graz.",
        "Works at Siemens as an engineer.",
    ],
)
def test_what_tells_of_nobody_else_is_about_its_user(text: str) -> None:
    assert people_of(text, user=OTTO) == ("Otto Kim",)


@pytest.mark.parametrize(
    "text", ["Mia is a doctor.", "Anna's birthday is in May.", "Lee met Otto at the fair."]
)
def test_what_tells_of_somebody_else_is_not(text: str) -> None:
    assert people_of(text, user=OTTO) == ()


def test_who_says_it_goes_before_whose_it_is() -> None:
    assert people_of("Nina: I am allergic to walnuts.", user=OTTO) == ("Nina",)
    assert people_of("I am allergic.", speakers=["", "Lee"], user=OTTO) == ("Lee",)


def test_a_label_leaves_it_with_its_user() -> None:
    assert "Otto Kim" in people_of("Allergy: shellfish.", user=OTTO)


def test_without_a_user_only_who_says_it_is_known() -> None:
    assert people_of("Otto is tall.") == ()
    assert people_of("Otto: I am tall.") == ("Otto",)
