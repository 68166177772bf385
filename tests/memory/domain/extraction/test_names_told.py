"""Whom "he" and "she" mean, what somebody goes by, and names that are words as well."""

from __future__ import annotations

import pytest

from tests.memory.domain.extraction.conversation import texts


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (("Peter quit Nokia.", "He now bakes bread."), "Peter now bakes bread."),
        (("Tom visited Ikea with Olaf.", "He bought a sofa."), "bought a sofa"),
        (("My Peugeot is old.", "Bob lives in Bath.", "He works at Lidl."), "Bob works at Lidl."),
        (("We use Slack.", "Omar set it up.", "He lives in Bath."), "Omar lives in Bath."),
    ],
)
def test_he_is_nobodys_firm_or_car(said: tuple[str, ...], told: str) -> None:
    lines = [line for each in said for line in (f"user: {each}", "assistant: I see.")]
    found = texts(*lines)
    assert any(told in each for each in found)
    assert not any(
        each.startswith(f"{thing} {verb}")
        for each in found
        for thing in ("Nokia", "Ikea", "Slack", "Dana's Peugeot")
        for verb in ("now", "bought", "works", "lives")
    )


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("My friends call me Tuck but I prefer Thomas.", "Thomas"),
        ("Everyone calls me Bobby, but please call me Robert.", "Robert"),
        ("People call me Max, though I'd rather be called Maxine.", "Maxine"),
        ("They call me Al, I prefer Allan.", "Allan"),
        ("Everybody calls me Tuck.", "Tuck"),
        ("Call me May, that's short for Maybelle.", "May"),
    ],
)
def test_one_goes_by_the_name_one_chooses(said: str, name: str) -> None:
    assert [each for each in texts(f"user: {said}") if "goes by" in each] == [
        f"User goes by {name}."
    ]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("April is my wife. She works as a vet in Hull.", "works as a vet in Hull"),
        ("My daughter May starts school on September 1.", "May starts school on September 1, 2026"),
        ("June from accounting approved the budget.", "June from accounting approved the budget"),
        ("Mark works in the finance team.", "Mark works in the finance team"),
        ("Rose takes the dog on Mondays.", "Rose takes the dog on Mondays"),
        ("Will and Nora are getting divorced.", "Will and Nora are getting divorced"),
        ("My name is June.", "User's name is June"),
    ],
)
def test_a_name_may_be_a_month_or_a_verb(said: str, told: str) -> None:
    assert any(told in each for each in texts(f"user: {said}"))


@pytest.mark.parametrize("said", ["Mark the invoice as paid.", "Bill the client on June 1."])
def test_an_order_stays_an_order(said: str) -> None:
    assert texts(f"user: {said}") == []


def test_the_month_is_no_name() -> None:
    assert not any("name" in each for each in texts("user: This is June, so I have no time."))


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            "I moved to Kiel in May and I love it.",
            "Dana moved to Kiel in May 2025 and Dana loves it.",
        ),
        ("We sold the Fiat and I bought a Kia.", "the team sold the Fiat and Dana bought a Kia."),
        ("Anna and I live in Bath.", "Dana and Anna live in Bath."),
    ],
)
def test_only_two_who_do_something_together_are_a_couple(said: str, told: str) -> None:
    assert any(each.endswith(told) for each in texts(f"user: {said}"))
