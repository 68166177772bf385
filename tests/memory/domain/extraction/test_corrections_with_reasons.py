"""Corrections that say what the old value belonged to, or where the new one was found."""

from __future__ import annotations

import pytest

from .conversation import texts


@pytest.mark.parametrize(
    ("lines", "new", "old"),
    [
        (("The fee is 300 euros. No wait, that was last year; this year it's 350.",), "350", "300"),
        (
            ("The hall holds eighty. Hang on, that's the old hall; the new one holds sixty.",),
            "new hall holds sixty",
            "eighty",
        ),
        (
            ("The flight is at 10:20.", "Correction, I've just checked the ticket: it's 11:05."),
            "11:05",
            "10:20",
        ),
        (
            (
                "We have the hall on the 14th. Hmm, or was it the 24th? Let me look.",
                "Found it: the 24th.",
            ),
            "March 24",
            "March 14",
        ),
    ],
)
def test_what_is_withdrawn_gives_way(lines: tuple[str, ...], new: str, old: str) -> None:
    said = [f"user: {line}" for line in lines]
    (found,) = texts(said[0], "assistant: Fine.", *said[1:])
    assert new in found
    assert old not in found


@pytest.mark.parametrize("then", ["No, sixty-two.", "Well, sixty-two.", "Wait, sixty-two."])
def test_the_second_of_two_answers_is_the_answer(then: str) -> None:
    found = texts("assistant: How many guests?", f"user: Seventy. {then}")
    assert found == ["The number of guests is sixty-two."]


def test_why_the_second_answer_holds_is_told_as_well() -> None:
    found = texts(
        "assistant: How many people are coming?", "user: Forty. No, thirty, the Bakers cancelled."
    )
    assert found[0] == "Thirty people are coming."
    assert "the Bakers cancelled" in found[1]


def test_a_day_that_the_agent_offered_gives_way_to_a_better_one() -> None:
    (found,) = texts(
        "user: The dentist wants to see Bo again in ten days.",
        "assistant: March 20, a Friday?",
        "user: Oh, then better Monday the 23rd.",
    )
    assert "March 23" in found
    assert "March 20" not in found


def test_what_was_so_last_year_stands_beside_what_is_so_now() -> None:
    found = " ".join(texts("user: The fee was 200 euros last year. This year it's 250."))
    assert "was 200 euros in 2025" in found
    assert "is 250 euros in 2026" in found


def test_a_look_up_answers_what_was_asked() -> None:
    found = " ".join(
        texts(
            "user: The match is on the 14th.",
            "assistant: And the cup final?",
            "user: Found it: the 21st.",
        )
    )
    assert "match is on March 14" in found
    assert "cup final is" in found
    assert "found" not in found.lower()


def test_the_record_says_which_of_two_times_is_put_right() -> None:
    found = " ".join(
        texts(
            "user: The ferry is at 15:15. Dinner is at 19:00.",
            "assistant: Noted.",
            "user: Correction, I've just looked at the ferry booking: it's 16:45.",
        )
    )
    assert "ferry is at 16:45" in found
    assert "Dinner is at 19:00" in found


@pytest.mark.parametrize(
    ("lines", "kept"),
    [
        (
            (
                "user: The ferry is at 15:15.",
                "user: I looked at the hotel booking: check-in is at 16:45.",
            ),
            ("15:15", "16:45"),
        ),
        (("user: The ticket costs ninety. Well, seventy with the card.",), ("ninety",)),
        (
            (
                "user: The exam is on the 14th.",
                "assistant: And the oral exam?",
                "user: Then Friday the 20th.",
            ),
            ("March 14", "March 20"),
        ),
        (("user: We paid 300 euros for the room. That was the best deal.",), ("300 euros",)),
    ],
)
def test_where_both_hold_both_are_kept(lines: tuple[str, ...], kept: tuple[str, ...]) -> None:
    found = " ".join(texts(*lines))
    assert all(value in found for value in kept)


def test_what_is_said_beside_a_withdrawn_value_stays() -> None:
    found = " ".join(
        texts(
            "assistant: Which way will you drive?",
            "user: Via Hope Street, it takes 35 minutes. "
            "No wait, that's the bus; the car takes 20 minutes.",
        )
    )
    assert "via Hope Street" in found
    assert "car takes 20 minutes" in found
    assert "35" not in found
