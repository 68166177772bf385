"""A memory never speaks of somebody whom only a pronoun names: resolved, or not kept."""

from __future__ import annotations

import pytest

from .conversation import both_passes


def told(*lines: str) -> list[str]:
    return [candidate.content for candidate in both_passes(*lines)]


@pytest.mark.parametrize(
    "said",
    [
        "Their boss is Colette.",
        "They live in Ghent and have a boat.",
        "They both work at Shell.",
        "Their office is in Basel and they open at 9.",
        "Its battery lasts 10 hours.",
        "He is allergic to cats.",
        "She said their dog is called Bingo.",
        "I told them that it costs 40 euros.",
    ],
)
def test_what_nobody_is_known_to_be_meant_by_is_not_kept(said: str) -> None:
    assert told(f"user: {said}") == []


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("My parents run a small bakery. Their boss is Colette.",
         "Dana's parents' boss is Colette."),
        ("My neighbours are loud. Their son plays drums at night.",
         "Dana's neighbours' son plays drums at night."),
        ("Tom and Ana moved to Lyon. They have a baby called Zoe.",
         "Tom and Ana have a baby called Zoe."),
        ("My brother and his wife have two kids, and their house is in Nantes.",
         "Dana's brother and his wife's house is in Nantes."),
        ("My friend Paul called. His mother is a judge.", "Paul's mother is a judge."),
        # With the sentence that it leans on.
        ("The laptop is new. Its battery lasts 10 hours.",
         "The laptop is new; its battery lasts 10 hours."),
    ],
)  # fmt: skip
def test_whose_it_is_is_named(said: str, meant: str) -> None:
    assert told(f"user: {said}")[-1] == meant


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("They put me on ramipril, 5 mg a day.",
         "Dana says that they put Dana on ramipril, 5 mg a day."),
        ("They raised the rent to 900 euros.", "Dana says that they raised the rent to 900 euros."),
    ],
)  # fmt: skip
def test_what_some_office_did_is_told_as_said(said: str, meant: str) -> None:
    (found,) = told(f"user: {said}")
    assert found.endswith(meant)
