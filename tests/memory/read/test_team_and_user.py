"""Memories about nobody and about the named user, where one reader sees both."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from memory.domain.audience import Viewer
from memory.domain.scoring import Weights
from memory.domain.types import MemoryType
from memory.models import Contradiction, Memory
from memory.reading.answers import Prompt
from memory.reading.questions import Question
from memory.understanding.tools import Tools
from memory.writing.drafts import MemoryDraft
from memory.writing.write_path import write_memories
from tests import factories
from tests.support.cast import Cast
from tests.support.judges import NumbersJudge
from tests.support.reading import retrieve

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
TEAMS = "The sigma server listens on port 1001."
USERS = "The sigma server listens on port 1002."


@pytest.fixture
def tools(tools: Tools) -> Tools:
    """With a judge that finds what these tests state."""
    return replace(tools, judge=NumbersJudge())


def tell(
    acme: Cast, tools: Tools, text: str, *, user: UUID | None, day: int, subject: str = ""
) -> Memory:
    draft = MemoryDraft(
        team_id=acme.team.id,
        content=text,
        memory_type=MemoryType.SEMANTIC,
        importance=8,
        extractor="test",
        created_at=NOON + timedelta(days=day),
        subject=subject,
        end_user_id=user,
    )
    viewer = Viewer(team_id=acme.team.id, actor="test")
    return write_memories(viewer=viewer, drafts=[draft], tools=tools)[0].memory


def ask(acme: Cast, tools: Tools, *, user: UUID | None) -> Prompt:
    return retrieve(
        viewer=Viewer(team_id=acme.team.id, actor="test", end_user_id=user),
        question=Question("Which port does the sigma server listen on?"),
        weights=Weights(),
        token_budget=2000,
        limit=None,
        include_cold=False,
        tools=tools,
        now=NOON + timedelta(days=9),
    )


@pytest.mark.parametrize("subject", ["", "sigma.port"])
@pytest.mark.parametrize("teams_day", [0, 2])
def test_the_user_is_shown_that_the_two_contradict_each_other(
    acme: Cast, tools: Tools, subject: str, teams_day: int
) -> None:
    tell(acme, tools, TEAMS, user=None, day=teams_day, subject=subject)
    tell(acme, tools, USERS, user=acme.sarah.pk, day=1, subject=subject)

    found = ask(acme, tools, user=acme.sarah.pk)

    assert [each.id for each in found.contradictions] == [None]
    assert found.formatted_prompt.count("DISPUTED") == 2


def test_a_users_own_change_retires_nothing_of_the_teams(acme: Cast, tools: Tools) -> None:
    tell(acme, tools, TEAMS, user=None, day=0)
    tell(acme, tools, "The sigma server now listens on port 1002.", user=acme.sarah.pk, day=1)

    found = ask(acme, tools, user=acme.sarah.pk)

    assert len(found.contradictions) == 1
    assert not Contradiction.objects.exists()
    assert set(Memory.objects.values_list("status", flat=True)) == {"active"}


def test_another_user_hears_nothing_of_it(acme: Cast, tools: Tools) -> None:
    tell(acme, tools, TEAMS, user=None, day=0)
    tell(acme, tools, USERS, user=acme.sarah.pk, day=1)
    other = factories.EndUserFactory.create(team=acme.team)

    found = ask(acme, tools, user=other.pk)

    assert found.contradictions == []
    assert "DISPUTED" not in found.formatted_prompt


@pytest.mark.parametrize("subject", ["", "sigma.port"])
def test_what_two_users_say_is_of_two_people(acme: Cast, tools: Tools, subject: str) -> None:
    other = factories.EndUserFactory.create(team=acme.team)
    tell(acme, tools, TEAMS, user=other.pk, day=0, subject=subject)
    tell(acme, tools, USERS, user=acme.sarah.pk, day=1, subject=subject)

    assert ask(acme, tools, user=None).contradictions == []


def test_another_matter_of_the_users_own_is_no_clash(acme: Cast, tools: Tools) -> None:
    tell(acme, tools, TEAMS, user=None, day=0)
    tell(acme, tools, "The omega server listens on port 1002.", user=acme.sarah.pk, day=1)
    tell(acme, tools, "The sigma server stands in Rotterdam.", user=acme.sarah.pk, day=1)

    assert ask(acme, tools, user=acme.sarah.pk).contradictions == []
