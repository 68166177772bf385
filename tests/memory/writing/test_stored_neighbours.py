"""What drafts are compared with is what a look at every memory would find, however it is found."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID, uuid4

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from memory.clients.tools import Tools
from memory.domain.types import MemoryType
from memory.models import Memory
from memory.selectors.meeting.many_neighbours import Asked, all_vectors
from memory.selectors.meeting.neighbours import Company
from memory.services.writing.drafts import MemoryDraft
from memory.services.writing.nearness import Nearest
from memory.services.writing.stored_neighbours import (
    SPARE,
    TOGETHER,
    Look,
    Stored,
    stored_neighbours,
)
from memory.services.writing.surroundings import company_of
from tests import factories
from tests.conftest import Cast
from tests.memory.given_vectors import draft, random_tools, store

SUBJECTS = ("", "tea.kind", "room.size")
COSINES = st.sampled_from([-0.5, 0.0, 0.25, 0.25, 0.5, 0.75])


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


def looks_of(drafts: Sequence[MemoryDraft], tools: Tools, *, near: int) -> list[Look]:
    vectors = tools.embedder.embed([each.content for each in drafts])
    return [
        Look(Asked(company_of(each), vector, each.subject), near=near, of_subject=2)
        for each, vector in zip(drafts, vectors, strict=True)
    ]


def holds_the_nearest(found: Sequence[Stored], looks: Sequence[Look], tools: Tools) -> bool:
    """Whether each found what a comparison with every memory of its company finds.

    The database keeps halves of single precision, so that near ties may change places.
    """
    for stored, look in zip(found, looks, strict=True):
        rows = list(look.asked.company.memories())
        vectors = tools.embedder.embed([row.content for row in rows] or [""])
        cosines = dict(zip((row.pk for row in rows), vectors @ look.asked.vector, strict=False))
        subject = look.asked.subject
        same = {row.pk for row in rows if subject and row.subject == subject}
        for near, among, most in (
            (stored.near, cosines.keys(), look.near),
            (stored.of_subject, same, look.of_subject),
        ):
            best = sorted((cosines[pk] for pk in among), reverse=True)[: most + SPARE]
            values = [value for _, value in near]
            assert values == sorted(values, reverse=True)
            assert len({pk for pk, _ in near}) == len(near)
            assert values == pytest.approx(best, abs=2e-3)
            assert values == pytest.approx([cosines[pk] for pk, _ in near], abs=2e-3)
            assert {pk for pk, _ in near} <= set(among)
    return True


@pytest.mark.parametrize("copies", [1, TOGETHER])
@pytest.mark.parametrize("near", [3, 40])
def test_each_draft_of_a_batch_meets_the_nearest_of_its_own_readers(
    acme: Cast, random: Tools, copies: int, near: int
) -> None:
    """Drafts of many readers at once, a few of each and many of each."""
    drafts = town_of(acme, random)
    looks = [
        look
        for copy in range(copies)
        for look in looks_of(
            [draft_ for draft_ in drafts if copy == 0 or draft_.end_user_id], random, near=near
        )
    ]

    found = stored_neighbours(looks=looks, embedding_model=random.embedder.name)

    assert holds_the_nearest(found, looks, random)
    assert all(each.near for each in found)


def test_looks_of_several_widths_each_find_their_own_number(acme: Cast, random: Tools) -> None:
    store(acme, random, *(f"Fact {number}." for number in range(60)))
    drafts = [draft(acme, f"New fact {number}.") for number in range(TOGETHER)]
    looks = [
        Look(look.asked, near=40 if number % 2 else 3, of_subject=2)
        for number, look in enumerate(looks_of(drafts, random, near=3))
    ]

    found = stored_neighbours(looks=looks, embedding_model=random.embedder.name)

    assert holds_the_nearest(found, looks, random)
    assert {len(each.near) for each in found} == {3 + SPARE, 40 + SPARE}


def test_memories_that_are_no_longer_live_are_not_met(acme: Cast, random: Tools) -> None:
    old = store(acme, random, *(f"Fact {number}." for number in range(20)), subject="tea.kind")
    gone = {memory.pk for memory in old[:10]}
    Memory.objects.filter(pk__in=gone).update(status="superseded", tier="cold")
    for count in (1, TOGETHER):
        drafts = [draft(acme, f"New {n}.", subject="tea.kind") for n in range(count)]

        found = stored_neighbours(
            looks=looks_of(drafts, random, near=20), embedding_model=random.embedder.name
        )

        for each in found:
            assert len(each.near) == 10
            assert not gone & {pk for pk, _ in [*each.near, *each.of_subject]}


def test_memories_of_another_embedding_model_are_not_compared(acme: Cast, tools: Tools) -> None:
    before, after = random_tools(tools, name="before"), random_tools(tools, name="after")
    store(acme, before, *(f"Old {number}." for number in range(5)))
    new = store(acme, after, "New.")
    for count in (1, TOGETHER):
        drafts = [draft(acme, f"Newer {number}.") for number in range(count)]

        found = stored_neighbours(
            looks=looks_of(drafts, after, near=3), embedding_model=after.embedder.name
        )

        assert [[pk for pk, _ in each.near] for each in found] == [[new[0].pk]] * count


def test_nothing_is_near_in_an_empty_team(acme: Cast, random: Tools) -> None:
    drafts = [draft(acme, f"First {number}.", subject="tea.kind") for number in range(TOGETHER)]

    found = stored_neighbours(
        looks=looks_of(drafts, random, near=3), embedding_model=random.embedder.name
    )

    assert found == [Stored([], [])] * TOGETHER


def test_the_vectors_of_a_company_are_read_as_they_are_stored(acme: Cast, random: Tools) -> None:
    """In more than one chunk, in the halves of single precision that the database keeps."""
    texts = [f"Fact {number}." for number in range(30)]
    memories = store(acme, random, *texts)
    company: Company = company_of(draft(acme, "New."))
    read: dict[UUID, NDArray[np.float32]] = {}

    for chunk, vectors in all_vectors(
        company=company, embedding_model=random.embedder.name, chunk=7
    ):
        assert len(chunk) <= 7
        read |= {UUID(bytes=pk): vector for pk, vector in zip(chunk, vectors, strict=True)}

    halves = random.embedder.embed(texts).astype(np.float16).astype(np.float32)
    assert len(read) == len(memories)
    for memory, half in zip(memories, halves, strict=True):
        assert (read[memory.pk] == half).all()


@given(
    rows=st.lists(st.lists(COSINES, min_size=12, max_size=12), min_size=1, max_size=4),
    most=st.integers(1, 14),
    chunk=st.integers(1, 12),
)
def test_the_nearest_of_chunks_are_the_nearest_of_all(
    rows: list[list[float]], most: int, chunk: int
) -> None:
    """Values in order; of equal ones at the edge some, each with its own id."""
    cosines = np.array(rows, dtype=np.float32)
    names = [uuid4().bytes for _ in range(12)]
    nearest = Nearest(count=len(rows), most=most)

    for start in range(0, 12, chunk):
        part = slice(start, start + chunk)
        nearest.see(cosines=cosines[:, part], ids=names[part])

    for place, row in enumerate(rows):
        found = nearest.of(place)
        assert [value for _, value in found] == sorted(row, reverse=True)[:most]
        assert len({pk for pk, _ in found}) == len(found)
        assert all(row[names.index(pk.bytes)] == value for pk, value in found)
