"""Answers that schedule, narrow or carry out what was asked, as whole and true sentences."""

from __future__ import annotations

import pytest

from .conversation import both_passes


def told(*lines: str) -> str:
    """What both passes tell."""
    return " ".join(each.content for each in both_passes(*lines))


@pytest.mark.parametrize(
    ("asked", "answer", "whole"),
    [
        ("What needs to be ready by then?", "The floor levelled and the socket moved.",
         "The floor needs to be levelled and the socket moved."),
        ("Who drives the van?", "Pieter, but only until Christmas.",
         "Pieter drives the van, but only until Christmas."),
        ("Who levels the floor?", "Me, this weekend.",
         "Dana levels the floor on the weekend of March 14, 2026."),
        ("Who feeds the cat?", "Olga, after work.", "Olga feeds the cat after work."),
        ("Who pays the rent?", "Me, until May.", "Dana pays the rent until May 2026."),
        ("Shall I remind you of the pill?", "Yes, every day at eight until the box is empty.",
         "Dana wants a reminder of the pill every day at eight until the box is empty."),
        ("Where is the next match?", "Away at Carrow.", "The next match is away at Carrow."),
        ("Should I cancel the skip?", "No, keep it until the end of October.",
         "Dana wants to keep the skip until the end of October."),
        ("How many stalls do you have?", "Two, but only one in winter.",
         "Dana has two stalls, but only one in winter."),
        # As it was.
        ("What happened today?", "The floor levelled and the socket moved.",
         "On March 10, 2026, the floor levelled and the socket moved."),
        ("Where is the party?", "Graz.", "The party is in Graz."),
    ],
)  # fmt: skip
def test_an_answer_is_whole(asked: str, answer: str, whole: str) -> None:
    assert whole in told(f"assistant: {asked}", f"user: {answer}")


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("Who drives?", "Pieter, I think, but ask him."),
        ("Should I cancel the skip?", "Not sure, ask me tomorrow."),
        ("Should I cancel the skip?", "No, keep it."),
        ("Shall I remind you of the pill?", "No, thanks."),
        ("Shall I translate this?", "Yes, please."),
    ],
)
def test_no_answer_is_made_up(asked: str, answer: str) -> None:
    assert told(f"assistant: {asked}", f"user: {answer}") == ""


def test_how_often_belongs_to_what_was_told() -> None:
    found = told(
        "user: The Möller school wants 40 rolls on Mondays. The mill is in Graz.",
        "assistant: Every Monday?",
        "user: Only in term time.",
    )
    assert "The Möller school wants 40 rolls on Mondays; only in term time." in found
    assert "Every Monday" not in found


def test_a_reminder_goes_with_what_its_message_tells() -> None:
    found = told(
        "user: I move the boxes on Friday.",
        "assistant: Good.",
        "user: The rent goes out on the 1st, so please remind me to move money before.",
    )
    assert "boxes on Friday, March 13, 2026." in found
    assert "The rent goes out on the 1st; Dana wants a reminder" in found


@pytest.mark.parametrize(
    ("report", "whole"),
    [
        ("The half marathon is cancelled.", "the half marathon was cancelled."),
        ("I could not get it cancelled, the page failed.", ""),
        ("Once it is cancelled I will tell you.", ""),
    ],
)
def test_an_accepted_offer_is_told_where_it_was_carried_out(report: str, whole: str) -> None:
    found = told(
        "assistant: Shall I cancel the half marathon?", "user: Yes, cancel it.",
        'tool: {"status": 1}', f"assistant: {report}",
    )  # fmt: skip
    assert found.endswith(whole)
    assert bool(found) is bool(whole)


@pytest.mark.parametrize(
    ("before", "offer", "report", "whole"),
    [
        ("Ruben works at the Lyon branch now.", "cancel the monthly review",
         "The monthly review is cancelled.", "the monthly review was cancelled."),
        ("Ines moved to Tampere.", "book your ferry", "I've booked your ferry.",
         "Dana's ferry was booked."),
        ("We went to Delft with the Brouwers.", "order two frames", "Ordered!",
         "two frames were ordered."),
    ],
)  # fmt: skip
def test_what_was_carried_out_gets_no_place_that_was_named_before(
    before: str, offer: str, report: str, whole: str
) -> None:
    found = both_passes(
        f"user: {before}", f"assistant: Noted. Shall I {offer}?", "user: Yes, please.",
        f"assistant: {report}",
    )  # fmt: skip
    assert f"On March 10, 2026, {whole}" in [each.content for each in found]


@pytest.mark.parametrize(
    "said",
    [
        "Stock at the food bank: 140 tins of beans, 60 of tomatoes, and the rice is nearly gone.",
        "Stock at the depot: 140 tins of beans and 60 of tomatoes.",
    ],
)
def test_a_list_of_figures_keeps_its_heading(said: str) -> None:
    assert [each.content for each in both_passes(f"user: {said}")] == [said]
