"""Drafts are compared with the same memories as in a full scan, however these are found."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from memory.domain.types import MemoryType
from memory.models import Memory
from memory.selectors.neighbours import Asked, Found, nearest_memories
from memory.understanding.tools import Tools
from memory.writing.drafts import MemoryDraft
from memory.writing.neighbours import comparison_set
from tests import factories
from tests.support.cast import Cast
from tests.support.embedders import random_tools
from tests.support.writing import draft, store

SUBJECTS = ("", "tea.kind", "room.size")


@pytest.fixture
def random(tools: Tools) -> Tools:
    return random_tools(tools)


def town_of(cast: Cast, tools: Tools) -> list[MemoryDraft]:
    """A draft for each kind of reader, in a team in which each has memories of three subjects."""
    project = factories.ProjectFactory.create(team=cast.team).pk
    readers: list[dict[str, object]] = [
        {"end_user_id": user, "agent_id": agent, "project_id": where, "memory_type": kind}
        for user in (None, cast.sarah.pk, cast.dmitri.pk)
        for agent, kind in (
            (None, MemoryType.SEMANTIC),
            (cast.kyra.pk, MemoryType.SEMANTIC),
            (cast.kyra.pk, MemoryType.AGENT_PRIVATE),
            (cast.luke.pk, MemoryType.SHARED),
        )
        for where in (None, project)
    ]
    for number, reader in enumerate(readers):
        for subject in SUBJECTS:
            texts = [f"Fact {each} of {number} on {subject}." for each in range(5)]
            store(cast, tools, *texts, subject=subject, **reader)
    return [
        draft(cast, f"New fact {number}.", subject=SUBJECTS[number % 3], **reader)
        for number, reader in enumerate(readers)
    ]


def asked_of(drafts: Sequence[MemoryDraft], tools: Tools) -> list[Asked]:
    vectors = tools.embedder.embed([each.content for each in drafts])
    return [
        Asked(comparison_set(each), vector, each.subject)
        for each, vector in zip(drafts, vectors, strict=True)
    ]


def search(drafts: Sequence[MemoryDraft], tools: Tools, *, limit: int) -> list[Found]:
    return nearest_memories(
        asked=asked_of(drafts, tools), embedding_model=tools.embedder.name, limit=limit
    )


@pytest.mark.parametrize("limit", [3, 40])
def test_each_draft_of_a_batch_meets_the_nearest_of_its_own_readers(
    acme: Cast, random: Tools, limit: int
) -> None:
    """Drafts of many readers at once; the database keeps halves of single precision."""
    drafts = town_of(acme, random)

    found = search(drafts, random, limit=limit)

    for each, one in zip(asked_of(drafts, random), found, strict=True):
        rows = list(Memory.objects.live().filter(each.among.as_q()))
        vectors = random.embedder.embed([row.content for row in rows])
        cosines = dict(zip((row.pk for row in rows), vectors @ each.vector, strict=True))
        same = {row.pk for row in rows if each.subject and row.subject == each.subject}
        assert one.near
        for near, among in ((one.near, cosines.keys()), (one.of_subject, same)):
            best = sorted((cosines[pk] for pk in among), reverse=True)[:limit]
            assert sorted(near.values(), reverse=True) == pytest.approx(best, abs=2e-3)
            assert near == pytest.approx({pk: cosines[pk] for pk in near}, abs=2e-3)
            assert near.keys() <= set(among)


def test_memories_that_are_no_longer_live_are_not_met(acme: Cast, random: Tools) -> None:
    old = store(acme, random, *(f"Fact {number}." for number in range(20)), subject="tea.kind")
    gone = {memory.pk for memory in old[:10]}
    Memory.objects.filter(pk__in=gone).update(status="superseded", tier="cold")

    (found,) = search([draft(acme, "New.", subject="tea.kind")], random, limit=20)

    assert len(found.near) == 10
    assert not gone & {*found.near, *found.of_subject}


def test_memories_of_another_embedding_model_are_not_compared(acme: Cast, tools: Tools) -> None:
    before, after = random_tools(tools, name="before"), random_tools(tools, name="after")
    store(acme, before, *(f"Old {number}." for number in range(5)))
    new = store(acme, after, "New.")

    found = search([draft(acme, f"Newer {number}.") for number in range(3)], after, limit=3)

    assert [[*each.near] for each in found] == [[new[0].pk]] * 3


def test_nothing_is_near_in_an_empty_team(acme: Cast, random: Tools) -> None:
    drafts = [draft(acme, f"First {number}.", subject="tea.kind") for number in range(3)]

    assert search(drafts, random, limit=3) == [Found()] * 3
