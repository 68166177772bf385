"""Which field a memory tells, whether it says anything new, and what is a yes."""

from __future__ import annotations

from datetime import date
from uuid import uuid4

import pytest

from memory.domain.consent import (
    Signal,
    independent_signals,
    is_yes,
    matter_of,
    says_the_same,
    value_words,
)

FIELDS = ("city", "health", "preferred_name", "pronouns")
ASKED = "Shall I call you Dana from now on?"


@pytest.mark.parametrize(
    ("memory_type", "subject", "matter"),
    [
        ("user_profile", "user.profile.city", "city"),
        ("user_profile", "user.city", "city"),
        ("semantic", "user.profile.city", "city"),
        ("user_profile", "user.profile.health.knee", "health.knee"),
        ("semantic", "user.city", ""),
        ("user_profile", "user.profile.role", ""),
        ("user_profile", "fact.city", ""),
        ("user_profile", "", ""),
    ],
)
def test_a_subject_names_the_field(memory_type: str, subject: str, matter: str) -> None:
    assert matter_of(memory_type=memory_type, subject=subject, fields=FIELDS) == matter


@pytest.mark.parametrize(
    ("new", "known", "matter", "is_same"),
    [
        ("User lives in Oslo.", "User lives in Oslo", "city", True),
        ("User moved to Oslo.", "User lives in Oslo.", "city", True),
        ("Sarah is based in Oslo.", "User lives in Oslo.", "city", True),
        ("User lives in Bergen.", "User lives in Oslo.", "city", False),
        ("User lives in Oslo, Norway.", "User lives in Oslo.", "city", False),
        ("User no longer lives in Oslo.", "User lives in Oslo.", "city", False),
        ("User doesn't live in Oslo.", "User lives in Oslo.", "city", False),
        ("User wants to be called Sarah.", "User wants to be called Ana.", "preferred_name", False),
        ("User wants to be called Ana.", "User goes by Ana.", "preferred_name", True),
        ("User's pronouns are they/them.", "User's pronouns are she/her.", "pronouns", False),
        ("User speaks.", "User speaks German.", "language", False),
    ],
)
def test_another_value_is_a_change(new: str, known: str, matter: str, is_same: bool) -> None:
    assert says_the_same(new=new, known=known, matter=matter, names=["sarah"]) is is_same


@pytest.mark.parametrize(
    ("question", "answer", "agrees"),
    [
        (ASKED, "Yes.", True),
        (ASKED, "yes, call me Dana", True),
        (ASKED, "Sure, go ahead!", True),
        ("You go by Dana. May I use that name?", "Yes please", True),
        ("What is your name again?", "Yes, call me Dana.", True),
        (ASKED, "No.", False),
        (ASKED, "Yes, but not at work.", False),
        (ASKED, "Yes? Who told you?", False),
        (ASKED, "Call me whatever.", False),
        ("Shall I call you Ana?", "Yes.", False),
        ("Did Dana call?", "Yes.", False),
        ("I will call you Dana.", "Yes.", False),
        ("Do you like Dana's book?", "Yes, Dana writes well.", False),
    ],
)
def test_a_yes_answers_a_question_about_the_value(question: str, answer: str, agrees: bool) -> None:
    value = value_words("User wants to be called Dana.", matter="preferred_name")

    found = is_yes(question=question, answer=answer, value=value, matter="preferred_name")

    assert found is agrees


def test_a_yes_to_no_known_value_is_none() -> None:
    assert not is_yes(question=ASKED, answer="Yes.", value=(), matter="city")


def test_signals_are_independent_by_conversation_or_day() -> None:
    one, other = uuid4(), uuid4()
    monday, tuesday = date(2026, 11, 23), date(2026, 11, 24)

    assert independent_signals([Signal(one, monday), Signal(one, monday)]) == 1
    assert independent_signals([Signal(one, monday), Signal(one, tuesday)]) == 2
    assert independent_signals([Signal(one, monday), Signal(other, monday)]) == 2
