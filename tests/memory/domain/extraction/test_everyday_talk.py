"""Faults found by reading every memory of everyday conversations: each class with its law."""

from __future__ import annotations

import pytest

from .conversation import both_passes


def told(*lines: str) -> list[str]:
    return [candidate.content for candidate in both_passes(*lines)]


@pytest.mark.parametrize(
    ("asked", "answer", "meant"),
    [
        ("Are you in physio?", "Every Wednesday at 8, with a guy called Anders.",
         ["Dana is in physio, every Wednesday at 8, with a guy called Anders."]),
        ("Do you live alone?", "No, with my boyfriend Emre and our parrot Kiwi.",
         ["Dana lives with their boyfriend Emre and their parrot Kiwi."]),
        ("Which company?", "A logistics firm called Nordspan, in Malmö.",
         ["The company is a logistics firm called Nordspan, in Malmö."]),
        ("Is Biscuit your dog?", "My cat.", ["Biscuit is Dana's cat."]),
        ("Who is the report for?", "The board.", ["The report is for the board."]),
        ("What does he like?", "Luca's turning 40 on April 18.",
         ["Luca's turning 40 on April 18, 2026."]),
        ("How do you get there?", "The parents drive.", []),
        ("And yours?", "64 square metres, third floor, no lift.", []),
        ("Anything I can do?", "Cheer me up!", []),
    ],
)  # fmt: skip
def test_an_answer_is_told_with_what_it_answers(asked: str, answer: str, meant: list[str]) -> None:
    assert told(f"assistant: {asked}", f"user: {answer}") == meant


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("I work at Helvetia, in claims.", "Dana works at Helvetia, in claims."),
        ("My daughter Freja plays left wing.", "Dana's daughter Freja plays left wing."),
        ("I've got glaucoma.", "Dana has got glaucoma."),
        ("I have macular degeneration.", "Dana has macular degeneration."),
        ("The tickets cost 18 euros, 10 for students. No wait, 12 for students.",
         "The tickets cost 18 euros, 12 for students."),
        ("You told me that my sister is 40 but she's 38.", "Dana's sister is 38."),
        ("I've lost 15 kilos since the divorce.", "Dana has lost 15 kilos since the divorce."),
        ("Samir started in March 2021 and became a team lead in October.",
         "Samir started in March 2021 and became a team lead in October 2021."),
        ("My dad was a strict man.", "Dana's dad was a strict man."),
        ("Last year Tom's band won a prize.", "In 2025, Tom's band won a prize."),
        ("Remember: to book the hall, ring Mrs Oakes first and only then send the form.",
         "To book the hall, ring Mrs Oakes first and only then send the form."),
    ],
)  # fmt: skip
def test_a_plain_fact_is_told_as_it_is(said: str, meant: str) -> None:
    assert meant in told(f"user: {said}")


@pytest.mark.parametrize(
    "said",
    [
        "We did that last week, they hated it.",
        "I always forget things like this.",
        "I once read that cows have best friends.",
        "Rice balls it is.",
        "Quick one before the kids wake up.",
        "I won't last till Wednesday, who am I kidding.",
        'My teammate insists "it\'s obviously Mercury".',
        "My colleague Jannis recommended them.",
    ],
)
def test_what_points_elsewhere_or_is_not_meant_is_not_kept(said: str) -> None:
    assert told(f"user: {said}") == []


@pytest.mark.parametrize(
    ("said", "then", "meant"),
    [
        ("Let's freeze the code on 24 April.", "Make the freeze the 22nd.", "on April 22, 2026."),
        ("The meeting is on Tuesday at 3pm.", "Make the meeting Thursday.",
         "on Thursday, March 12, 2026 at 3pm."),
        ("Dinner is at 7pm on May 3.", "Make dinner 8pm, please.", "at 8pm on May 3, 2026."),
        ("Our yards are in Bergen and Ålesund.",
         "Scratch Ålesund, I misread it: it's "
         "Bergen and Molde.", "in Bergen and Molde."),
    ],
)  # fmt: skip
def test_what_is_named_gets_its_new_value(said: str, then: str, meant: str) -> None:
    (found,) = told(f"user: {said}", "assistant: Ok.", f"user: {then}")
    assert found.endswith(meant)


def test_a_feast_is_nobody() -> None:
    found = told(
        "user: My uncle Wiebe has a farm.",
        "assistant: Do you visit him?",
        "user: Every Easter. We bring him cheese.",
    )
    assert not [each for each in found if "brings Easter" in each]


def test_a_bare_day_is_the_one_that_was_named_before() -> None:
    found = told("user: Luca turns 40 on April 18.", "user: The party is at 6 pm on the 18th.")
    assert "April 18, 2026" in found[1]
    (_, other) = told("user: We fly on June 3.", "user: My passport expires on the 12th.")
    assert "March 12, 2026" in other
