"""What a handover, an ending and a guess do to the memories they meet, in whichever order."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from memory.clients.tools import Tools
from memory.domain.types import Judgement, Statement, Status, Verdict
from memory.models import Memory
from memory.services.writing.drafts import Outcome
from tests.conftest import Cast
from tests.memory.writing.test_write_path import NOON, draft, live, write


@pytest.mark.parametrize(
    ("news", "state"),
    [
        ("Carla took over from Ben as team lead.", "Ben is the team lead."),
        ("Rosa replaced Ivo as chair of the board.", "The chair of the board is Ivo."),
        ("Atlas dropped support for Python 3.9.", "Atlas supports Python 3.9."),
        ("Tarik left the chess club.", "Tarik is a member of the chess club."),
    ],
)
def test_news_supersedes_and_an_old_state_after_it_is_kept_in_dispute(
    acme: Cast, tools: Tools, news: str, state: str
) -> None:
    (before,) = write(acme, tools, draft(acme, state))
    (after,) = write(acme, tools, draft(acme, news, created_at=NOON + timedelta(days=9)))

    (again,) = write(acme, tools, draft(acme, state, created_at=NOON + timedelta(days=12)))

    assert Memory.objects.get(pk=before.memory.pk).status == Status.SUPERSEDED
    assert again.outcome == Outcome.DISPUTED
    assert Memory.objects.get(pk=after.memory.pk).status == Status.DISPUTED
    assert sorted(live(acme)) == sorted([news, state])


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Marta leads design.", "Olga took over marketing from Marta."),
        ("The budget is 5k.", "The catering budget is now 2k."),
        ("User lives in Leeds.", "User left a phone in Leeds."),
        ("The company uses Notion.", "The company moved to Hamburg."),
        ("Marta's car has a blue rear bumper.", "Marta replaced the rear light of her car."),
        ("The pharmacy opens at 8.", "The pharmacy closes at 18."),
        ("Her dentist is in Dover.", "Ambrose's dentist is in Kent."),
        ("Boiler 3 was inspected.", "Boiler 5 was inspected."),
        ("Sara started running.", "Sara stopped smoking."),
        ("The Lantern beta ships on March 18.", "Since March 12 the Lantern beta hangs on start."),
        ("Sara is a nurse.", "Sara left the nursing home."),
        ("Lives with her sister.", "Her sister runs a shop."),
        ("User is learning Italian.", "User passed the A2 exam in Italian."),
        ("User's flat is number 8.", "User's new customer number is 55812."),
        ("User's brother Piet lives in Breda.", "User's brother Jan lives in Delft now."),
    ],
)
def test_news_of_something_else_retires_and_marks_nothing(
    acme: Cast, tools: Tools, first: str, second: str
) -> None:
    for text in (first, second):
        write(acme, tools, draft(acme, text))

    assert live(acme) == [first, second]
    assert set(Memory.objects.values_list("status", flat=True)) == {Status.ACTIVE}


def test_a_long_clause_about_a_successor_does_not_keep_the_change_from_being_seen(
    acme: Cast, tools: Tools
) -> None:
    news = (
        "The project is now led by Fay, who joined last spring from the Berlin office and used to"
        " run the data platform."
    )
    (before,) = write(acme, tools, draft(acme, "The project is led by Tom."))

    write(acme, tools, draft(acme, news, created_at=NOON + timedelta(days=9)))

    assert Memory.objects.get(pk=before.memory.pk).status == Status.SUPERSEDED
    assert live(acme) == [news]


class Guessing:
    """A judge that holds every new statement for a change, but is not sure."""

    name = "guessing"

    def judge(self, *, existing: Statement, new: Statement) -> Judgement:
        """Supersede, as a guess."""
        return Judgement(Verdict.SUPERSEDE, "perhaps a change", 0.4)


def test_a_guess_marks_both_and_retires_neither(acme: Cast, tools: Tools) -> None:
    subject, guessing = "user.preference.drink", replace(tools, judge=Guessing())
    write(acme, guessing, draft(acme, "Sarah drinks tea.", subject=subject))

    (result,) = write(acme, guessing, draft(acme, "Sarah drinks milk.", subject=subject))

    assert result.outcome == Outcome.DISPUTED
    assert live(acme) == ["Sarah drinks tea.", "Sarah drinks milk."]
