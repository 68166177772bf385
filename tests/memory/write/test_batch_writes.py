"""A batch of drafts ends as the same drafts written one by one, for a fixed number of queries."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import numpy as np
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from pytest_django import Settings

from memory.domain.audience import Viewer
from memory.domain.types import Judgement, MemoryType, Statement, Verdict
from memory.models import Contradiction, Memory, MemoryRelation
from memory.understanding.tools import Tools
from memory.writing.drafts import MemoryDraft, Outcome
from memory.writing.neighbours import MOST_NEIGHBOURS, NeighbourSearch
from memory.writing.stating import StatedMemory, remember
from teams.tenancy import team_scope
from tests import factories
from tests.support.cast import Cast, make_cast
from tests.support.embedders import OrthogonalEmbedder, random_tools
from tests.support.examples import examples
from tests.support.judges import PairJudge
from tests.support.waiting import race
from tests.support.writing import NOON, draft, store, write

A_FEW = 8
SUBJECTS = ("", "tea.kind", "tea.time", "room.size")


class HashJudge(PairJudge):
    """A judge whose verdict on two texts is arbitrary, and always the same."""

    name = "hash"
    verdicts = (Verdict.COEXIST, Verdict.SUPERSEDE, Verdict.DISPUTE, Verdict.DUPLICATE)

    def judge(self, *, existing: Statement, new: Statement) -> Judgement:
        """The verdict on the pair."""
        digest = hashlib.sha256(f"{existing.content}|{new.content}".encode()).digest()
        return Judgement(self.verdicts[digest[0] % 4], "so says the hash")


class MildJudge(PairJudge):
    """Everything may stand beside everything."""

    name = "mild"

    def judge(self, *, existing: Statement, new: Statement) -> Judgement:
        """Always the same."""
        del existing, new
        return Judgement(Verdict.COEXIST, "why not")


class FirmJudge(PairJudge):
    """Everything new supersedes what it is compared with."""

    name = "firm"

    def judge(self, *, existing: Statement, new: Statement) -> Judgement:
        """Always the same."""
        del existing, new
        return Judgement(Verdict.SUPERSEDE, "the newer one holds")


@pytest.fixture
def crowded(tools: Tools) -> Tools:
    """Tools with vectors of so few dimensions that many are near, and arbitrary verdicts."""
    return replace(random_tools(tools, dimensions=3), judge=HashJudge())


FACTS = st.lists(
    st.fixed_dictionaries(
        {
            "number": st.integers(0, 9),
            "subject": st.sampled_from(SUBJECTS),
            "day": st.integers(0, 3),
            "who": st.sampled_from(["all", "all", "own", "private", "shared", "project"]),
            "is_pinned": st.booleans(),
        }
    ),
    min_size=A_FEW,
    max_size=2 * A_FEW,
)


def drafts_of(
    cast: Cast, facts: Sequence[dict[str, Any]], *, user: UUID, project: UUID
) -> list[MemoryDraft]:
    """Drafts of the facts about a person."""
    whose: dict[str, dict[str, Any]] = {
        "all": {},
        "own": {"agent_id": cast.kyra.pk},
        "private": {"agent_id": cast.kyra.pk, "memory_type": MemoryType.AGENT_PRIVATE},
        "shared": {"memory_type": MemoryType.SHARED, "author_id": cast.kyra.pk},
        "project": {"project_id": project, "author_id": cast.kyra.pk},
    }
    return [
        draft(
            cast,
            f"The tea number {fact['number']} is green.",
            subject=fact["subject"],
            created_at=NOON + timedelta(days=fact["day"]),
            is_pinned=fact["is_pinned"],
            end_user_id=user,
            **whose[fact["who"]],
        )
        for fact in facts
    ]


def state_of(user: UUID) -> dict[str, Any]:
    """All that stands about a person, by the order in which it came."""
    rows = list(Memory.objects.filter(end_user_id=user).order_by("id"))
    number = {row.pk: place for place, row in enumerate(rows)} | {None: None}
    return {
        "memories": [
            (
                row.content,
                row.memory_type,
                row.status,
                row.tier,
                row.is_pinned,
                row.version,
                row.corroboration,
                number[row.supersedes_id],
                number[row.superseded_by_id],
                {number[other] for other in row.contradicts},
            )
            for row in rows
        ],
        "contradictions": sorted(
            (number[each.memory_a_id], number[each.memory_b_id], each.verdict, each.resolution)
            for each in Contradiction.objects.filter(memory_a__end_user_id=user)
        ),
        "links": {
            (number[each.from_memory_id], number[each.to_memory_id], round(each.strength, 2))
            for each in MemoryRelation.objects.filter(from_memory__end_user_id=user)
        },
    }


def same(number: int, **fields: Any) -> dict[str, Any]:
    return {"number": number, "subject": "", "day": 0, "who": "all", "is_pinned": False, **fields}


@settings(
    max_examples=examples(6),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(known=FACTS, facts=FACTS)
@example(known=[], facts=[same(1)] * 8)
@example(known=[same(n, subject="tea.kind") for n in range(9)], facts=[same(n) for n in range(9)])
@example(known=[], facts=[same(n, subject="tea.kind", day=n % 4) for n in range(10)] * 2)
def test_a_batch_ends_as_the_same_drafts_one_by_one(
    acme: Cast, crowded: Tools, known: list[dict[str, Any]], facts: list[dict[str, Any]]
) -> None:
    project = factories.ProjectFactory.create(team=acme.team).pk
    ends, outcomes = [], []
    for together in (True, False):
        user = factories.EndUserFactory.create(team=acme.team).pk
        for one in drafts_of(acme, known, user=user, project=project):
            write(acme, crowded, one)
        drafts = drafts_of(acme, facts, user=user, project=project)
        if together:
            results = write(acme, crowded, *drafts)
        else:
            results = [write(acme, crowded, one)[0] for one in drafts]
        ends.append(state_of(user))
        outcomes.append([(each.outcome, each.conflicts, len(each.retired)) for each in results])

    assert outcomes[0] == outcomes[1]
    for name, end in ends[0].items():
        assert end == ends[1][name]


@pytest.mark.parametrize("drafts", [1, A_FEW])
def test_when_the_nearest_are_retired_the_next_ones_are_met(
    acme: Cast, tools: Tools, drafts: int
) -> None:
    random = random_tools(tools)
    old = store(acme, random, *(f"Old fact {number}." for number in range(30)))
    texts = [f"New fact {number}." for number in range(drafts)]
    search = NeighbourSearch(
        drafts=[draft(acme, text) for text in texts],
        vectors=random.embedder.embed(texts),
        embedding_model=random.embedder.name,
    )
    cosines = (
        random.embedder.embed([memory.content for memory in old])
        @ (random.embedder.embed(texts)[-1])
    )
    nearest = [old[place].pk for place in np.argsort(-cosines)]

    met = [each.memory.pk for each in search.of(drafts - 1)]
    Memory.objects.filter(pk__in=nearest[:12]).update(status="superseded", tier="cold")
    search.drop(nearest[:12])
    met_then = [each.memory.pk for each in search.of(drafts - 1)]

    assert met == nearest[:MOST_NEIGHBOURS]
    assert met_then == nearest[12 : 12 + MOST_NEIGHBOURS]


def test_more_of_a_subject_than_are_judged_are_met_in_a_batch_as_alone(
    acme: Cast, tools: Tools, settings: Settings
) -> None:
    """Each statement of a subject supersedes those it meets; the others of the subject are next."""
    settings.JUDGED_NEIGHBOURS = 2
    firm = replace(random_tools(tools), judge=FirmJudge())
    for number in range(20):
        write(acme, firm, draft(acme, f"Size {number}.", subject="room.size", check=False))

    results = write(
        acme,
        firm,
        *(draft(acme, f"New size {n}.", subject="room.size") for n in range(A_FEW)),
    )

    # The first meets two of twenty; each later one the one before it or others of the subject.
    assert all(0 < len(each.retired) <= 4 for each in results)
    retired = [pk for each in results for pk in each.retired]
    assert len(retired) == len(set(retired))


def test_the_queries_of_a_batch_do_not_grow_with_it(acme: Cast, tools: Tools) -> None:
    random = replace(random_tools(tools), judge=MildJudge())
    for number in range(30):
        write(acme, random, draft(acme, f"Old fact {number}.", subject=f"fact.old{number}"))

    counts = []
    for size in (10, 60):
        drafts = [
            draft(acme, f"Fact {n} of {size}.", subject=f"fact.{size}.{n}") for n in range(size)
        ]
        with CaptureQueriesContext(connection) as queries:
            results = write(acme, random, *drafts)
        assert {each.outcome for each in results} == {Outcome.CREATED}
        counts.append(len(queries))

    assert counts[0] == counts[1]


def test_conflicting_batches_at_once_end_in_one_consistent_state(
    committed_db: None, tools: Tools
) -> None:
    """Four writers say each of eight things about ten subjects, in an order of their own."""
    town = make_cast(f"town-{uuid4().hex}")
    # Only what is of one subject is compared: no two texts are near by their vectors.
    firm = replace(tools, embedder=OrthogonalEmbedder(), judge=FirmJudge())

    def act(number: int) -> None:
        facts = [
            draft(town, f"{subject} is {uuid4().hex}.", subject=f"{subject}.kind")
            for subject in (f"thing{n}" for n in range(10))
        ]
        write(town, firm, *(facts if number % 2 else reversed(facts)))

    race(4, act)

    with team_scope(team_ids=[town.team.id], actor="test"):
        rows = list(Memory.objects.all())
    live = [row for row in rows if row.is_live]
    assert len(rows) == 40
    assert sorted(row.subject for row in live) == sorted(f"thing{n}.kind" for n in range(10))
    assert {row.version for row in live} == {4}
    by_id = {row.pk: row for row in rows}
    for row in rows:
        if row.superseded_by_id:
            assert by_id[row.superseded_by_id].subject == row.subject


def test_batches_at_once_may_name_the_same_new_people_in_any_order(
    committed_db: None, tools: Tools
) -> None:
    town = make_cast(f"town-{uuid4().hex}")
    people = [f"guest-{number}" for number in range(8)]

    def act(number: int) -> int:
        stated = [
            StatedMemory(content=f"Sits at table {number}.", user=person)
            for person in (people if number % 2 else reversed(people))
        ]
        viewer = Viewer(team_id=town.team.id, actor="test")
        return len(remember(viewer=viewer, stated=stated, tools=random_tools(tools), now=NOON))

    assert race(6, act) == [len(people)] * 6
