"""Conflicts between memories with fewer and with more readers that nobody compared."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memory.domain.audience import Viewer
from memory.domain.scoring import Weights
from memory.domain.types import MemoryType
from memory.models import Contradiction
from memory.reading.answers import Prompt
from memory.reading.questions import Question
from memory.understanding.tools import Tools
from memory.writing.drafts import MemoryDraft
from memory.writing.write_path import write_memories
from teams.models import Project
from tests.support.cast import Cast
from tests.support.judges import NumbersJudge
from tests.support.reading import retrieve

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
TEAMS = "The sigma server listens on port 1001."
OF_FEWER = "The sigma server listens on port 1002."


@pytest.fixture
def tools(tools: Tools) -> Tools:
    """With a judge that finds what these tests state."""
    return replace(tools, judge=NumbersJudge())


def tell(acme: Cast, tools: Tools, text: str, *, day: int, **fields: Any) -> None:
    draft = MemoryDraft(
        team_id=acme.team.id,
        content=text,
        importance=8,
        extractor="test",
        created_at=NOON + timedelta(days=day),
        **{"memory_type": MemoryType.SEMANTIC, **fields},
    )
    viewer = Viewer(team_id=acme.team.id, actor="test")
    write_memories(viewer=viewer, drafts=[draft], tools=tools)


def ask(acme: Cast, tools: Tools, **reader: Any) -> Prompt:
    return retrieve(
        viewer=Viewer(team_id=acme.team.id, actor="test", **reader),
        question=Question("Which port does the sigma server listen on?"),
        weights=Weights(),
        token_budget=2000,
        limit=None,
        include_cold=False,
        tools=tools,
        now=NOON + timedelta(days=9),
    )


@pytest.mark.parametrize("is_of_project", [False, True])
@pytest.mark.parametrize("teams_day", [0, 2])
def test_what_an_agent_keeps_to_itself_is_held_against_what_is_nobodys(
    acme: Cast, tools: Tools, teams_day: int, is_of_project: bool
) -> None:
    project = Project.objects.create(team=acme.team, name="sigma").pk if is_of_project else None
    tell(acme, tools, TEAMS, day=teams_day)
    tell(
        acme,
        tools,
        OF_FEWER,
        day=1,
        memory_type=MemoryType.AGENT_PRIVATE,
        agent_id=acme.kyra.pk,
        author_id=acme.kyra.pk,
        project_id=project,
    )

    kyras = ask(acme, tools, agent_id=acme.kyra.pk, project_id=project)
    lukes = ask(acme, tools, agent_id=acme.luke.pk, project_id=project)

    assert [each.id for each in kyras.contradictions] == [None]
    assert kyras.formatted_prompt.count("DISPUTED") == 2
    assert lukes.contradictions == []
    assert OF_FEWER not in lukes.formatted_prompt
    assert "DISPUTED" not in lukes.formatted_prompt
    assert not Contradiction.objects.exists()


@pytest.mark.parametrize("teams_day", [0, 2])
def test_a_projects_fact_is_held_against_the_teams_in_either_order(
    acme: Cast, tools: Tools, teams_day: int
) -> None:
    project = Project.objects.create(team=acme.team, name="sigma").pk
    facts = [(teams_day, TEAMS, None), (1, OF_FEWER, project)]
    for day, text, of_project in sorted(facts, key=lambda each: each[0]):
        tell(acme, tools, text, day=day, project_id=of_project)

    found = ask(acme, tools, project_id=project)

    assert len(found.contradictions) == 1
    assert "DISPUTED" in found.formatted_prompt


@pytest.mark.parametrize("teams_day", [0, 2])
def test_a_users_fact_is_held_against_the_teams_where_no_user_is_named(
    acme: Cast, tools: Tools, teams_day: int
) -> None:
    tell(acme, tools, TEAMS, day=teams_day)
    tell(acme, tools, OF_FEWER, day=1, end_user_id=acme.sarah.pk)

    found = ask(acme, tools)

    assert [each.id for each in found.contradictions] == [None]
    assert not Contradiction.objects.exists()
