"""A condition compiled to SQL selects the rows that its Q selects, and Python's rule agrees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from uuid import UUID

import pytest
from django.db import connection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory.domain.audience import OF_AN_AGENT, TEAM_WIDE, Owner, Reach, Viewer
from memory.domain.types import MemoryType
from memory.models import Memory, SearchEntry
from memory.models.querysets import visible_to_q
from memory.selectors.filters import viewer_parameters
from memory.selectors.neighbours import ComparisonSet
from memory.selectors.search.signals import Shape
from memory.understanding.tools import Tools
from tests import factories
from tests.support.cast import Cast
from tests.support.embedders import random_tools
from tests.support.writing import draft, write

EXAMPLES = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
KINDS = [kind.value for kind in MemoryType]


@dataclass(frozen=True)
class World:
    """A memory of every type for every combination of agent, person and project."""

    cast: Cast
    agents: list[UUID | None]
    users: list[UUID | None]
    projects: list[UUID | None]

    @property
    def team_id(self) -> UUID:
        return self.cast.team.id


@pytest.fixture
def world(acme: Cast, globex: Cast, tools: Tools) -> World:
    projects = [factories.ProjectFactory.create(team=acme.team).pk for _ in range(2)]
    world = World(
        acme,
        [None, acme.kyra.pk, acme.luke.pk],
        [None, acme.sarah.pk, acme.dmitri.pk],
        [None, *projects],
    )
    random = random_tools(tools, dimensions=2)
    drafts = [
        draft(
            acme,
            f"Memory {number}.",
            check=False,
            memory_type=MemoryType(kind),
            agent_id=agent,
            end_user_id=user,
            project_id=project,
        )
        for number, (kind, agent, user, project) in enumerate(
            product(KINDS, world.agents, world.users, world.projects)
        )
        if agent is not None or kind not in OF_AN_AGENT
    ]
    write(acme, random, *drafts)
    return world


def selected(table: str, sql: str, parameters: Mapping[str, UUID | None], column: str) -> set[UUID]:
    given = {name: value for name, value in parameters.items() if value is not None}
    with connection.cursor() as cursor:
        # Compiled conditions name the search entries' table; the memories take its name for this.
        cursor.execute(
            f"SELECT {column} FROM {table} AS memory_searchentry WHERE {sql}",
            given,
        )
        return {row[0] for row in cursor.fetchall()}


def owner_of(memory: Memory) -> Owner:
    return Owner.of(
        team_id=memory.team_id,
        memory_type=memory.memory_type,
        agent_id=memory.agent_id,
        end_user_id=memory.end_user_id,
        project_id=memory.project_id,
    )


def reads(viewer: Viewer, memory: Memory) -> bool:
    """The rule of visibility, said once more."""
    by_agent = (
        viewer.agent_id is None
        or memory.memory_type in TEAM_WIDE
        or memory.agent_id == viewer.agent_id
        or (memory.agent_id is None and memory.memory_type not in OF_AN_AGENT)
    )
    by_user = viewer.end_user_id is None or memory.end_user_id in (None, viewer.end_user_id)
    if viewer.end_user_id is None and memory.end_user_id is not None:
        by_user = viewer.agent_id is None if viewer.sees_people is None else viewer.sees_people
    is_an_agents = memory.agent_id is not None and memory.memory_type not in TEAM_WIDE
    is_of_team = memory.end_user_id is None and not is_an_agents
    if viewer.is_guest and is_of_team and memory.conversation_id is not None:
        return False
    by_key = not viewer.project_ids or memory.project_id in (None, *viewer.project_ids)
    if viewer.project_id is None and not by_key:
        return False
    by_project = viewer.project_id is None or memory.project_id in (None, viewer.project_id)
    return memory.team_id == viewer.team_id and by_agent and by_user and by_project


@EXAMPLES
@given(data=st.data())
def test_the_rule_of_visibility_is_the_same_in_every_form(
    world: World, data: st.DataObject
) -> None:
    viewer = Viewer(
        team_id=world.team_id,
        actor="test",
        agent_id=data.draw(st.sampled_from(world.agents)),
        end_user_id=data.draw(st.sampled_from(world.users)),
        project_id=data.draw(st.sampled_from(world.projects)),
        project_ids=tuple(
            data.draw(st.lists(st.sampled_from(world.projects[1:]), unique=True, max_size=2))
        ),
        sees_people=data.draw(st.sampled_from([None, True, False])),
        is_guest=data.draw(st.booleans()),
    )
    shape = Shape.of(viewer)
    parameters = viewer_parameters(viewer)

    expected = {memory.pk for memory in Memory.objects.all() if reads(viewer, memory)}

    assert set(Memory.objects.visible_to(viewer).values_list("pk", flat=True)) == expected
    entries = SearchEntry.objects.filter(visible_to_q(viewer))
    assert set(entries.values_list("pk", flat=True)) == expected
    assert selected("memory_memory", shape.visible, parameters, "id") == expected
    assert selected("memory_searchentry", shape.condition, parameters, "memory_id") == expected


@EXAMPLES
@given(data=st.data())
def test_whom_a_draft_is_compared_with_is_the_same_in_every_form(
    world: World, data: st.DataObject
) -> None:
    among = comparison_set_in(world, data)
    sql, parameters = among.condition()

    expected = {memory.pk for memory in Memory.objects.all() if among.holds(owner_of(memory))}

    rows = Memory.objects.live().filter(among.as_q())
    assert set(rows.values_list("pk", flat=True)) == expected
    assert selected("memory_searchentry", sql, parameters, "memory_id") == expected


@EXAMPLES
@given(data=st.data())
def test_who_reads_the_narrower_of_two_compared_memories_reads_the_other(
    world: World, data: st.DataObject
) -> None:
    """So that nothing is retired by what one of its readers does not see."""
    among = comparison_set_in(world, data)
    mine = among.owner
    kind = MemoryType.SEMANTIC.value if mine.kind == "open" else mine.kind
    new = Memory(
        team_id=world.team_id,
        memory_type=kind,
        agent_id=mine.agent_id,
        end_user_id=mine.end_user_id,
        project_id=mine.project_id,
    )
    viewers = [
        Viewer(world.team_id, "test", agent, user, project)
        for agent, user, project in product(world.agents, world.users, world.projects)
    ]

    for memory in Memory.objects.live().filter(among.as_q()):
        reach = owner_of(memory).reach_beside(mine)
        for viewer in viewers:
            sees_old, sees_new = reads(viewer, memory), reads(viewer, new)
            if reach == Reach.NARROWER:
                assert sees_new or not sees_old
            elif reach == Reach.WIDER:
                assert sees_old or not sees_new
            else:
                assert sees_old == sees_new


def comparison_set_in(world: World, data: st.DataObject) -> ComparisonSet:
    agent = data.draw(st.sampled_from(world.agents))
    kind = data.draw(st.sampled_from(KINDS if agent else sorted({*KINDS} - {*OF_AN_AGENT})))
    owner = Owner.of(
        team_id=world.team_id,
        memory_type=kind,
        agent_id=agent,
        end_user_id=data.draw(st.sampled_from(world.users)),
        project_id=data.draw(st.sampled_from(world.projects)),
    )
    author = data.draw(st.sampled_from(world.agents)) if owner.agent_id is None else None
    return ComparisonSet(owner, author)
