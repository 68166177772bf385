"""Statements that give a field one value, and answers that state a value."""

from __future__ import annotations

import pytest

from memory.satellites.consent.values import is_same_value, states_value

CITY = "user.profile.city"
ASKED = "Shall I call you Dana from now on?"


@pytest.mark.parametrize(
    ("new", "known", "is_same"),
    [
        ("user lives in  Oslo", "User lives in Oslo.", True),
        ("user lives in Oslo", "User lives in Oslo.", True),
        ("The user lives in Oslo.", "User lives in Oslo.", True),
        ("User lives in Bergen.", "User lives in Oslo.", False),
        ("User no longer lives in Oslo.", "User lives in Oslo.", False),
    ],
)
def test_the_same_words_or_a_sure_judge_make_one_value(
    new: str, known: str, *, is_same: bool
) -> None:
    assert is_same_value(new=new, known=known, subject=CITY) is is_same


@pytest.mark.parametrize(
    ("question", "answer", "states"),
    [
        (ASKED, "Yes, call me Dana!", True),
        (ASKED, "call me dana", True),
        ("Right. What is your name again?", "Yes, call me Dana. And hello.", True),
        (ASKED, "Yes.", False),
        (ASKED, "Sure, go ahead!", False),
        (ASKED, "Don't call me Dana.", False),
        (ASKED, "Never call me Dana.", False),
        (ASKED, "Call me Dana or Ana.", False),
        ("I will call you Dana.", "Call me Dana.", False),
    ],
)
def test_an_answer_states_a_value_in_the_words_of_the_proposal(
    question: str, answer: str, *, states: bool
) -> None:
    assert states_value(question=question, answer=answer, value="Call me Dana.") is states
