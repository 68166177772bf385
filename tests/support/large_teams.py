"""A team that has an approximate index of its vectors, for tests, and what searches find there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from uuid import UUID, uuid4

import numpy as np
import pytest
from django.db import connections
from pytest_django import Settings

from memory.domain.audience import Viewer
from memory.models import EmbeddingState, Memory, SearchEntry
from memory.selectors.search.signal_rows import Sought
from memory.selectors.search.signals import find_candidates
from memory.selectors.search.vectors import VectorSearch, forget_graphs
from memory.understanding.tools import Tools
from teams.prepared import uuids
from teams.tenancy import team_scope
from tests.support.cast import Cast, make_cast
from tests.support.embedders import RandomEmbedder, random_tools

MANY = 300


@pytest.fixture
def city(committed_db: None, settings: Settings) -> Iterator[Cast]:
    """A team that is large from 20 memories on, under the model `random@32`."""
    settings.EXACT_SEARCH_LIMIT = 20
    settings.GRAPH_STEP_COST = 0
    before = EmbeddingState.objects.first()
    cast = make_cast(f"city-{uuid4().hex}")
    use(RandomEmbedder())
    forget_graphs()
    yield cast
    # So that what other tests embed again, or index, does not grow.
    with connections["owner"].cursor() as cursor:
        cursor.execute("DELETE FROM memory_searchentry WHERE embedding_model LIKE 'random@%'")
        cursor.execute("DELETE FROM memory_searchgraph")
        cursor.execute("DELETE FROM memory_embeddingstate")
    if before is not None:
        before.save(force_insert=True)
    forget_graphs()


@pytest.fixture
def random(tools: Tools) -> Tools:
    """Tools with random vectors of 32 dimensions."""
    return random_tools(tools)


def use(embedder: RandomEmbedder) -> None:
    """Let it be the model that searches use."""
    EmbeddingState.objects.update_or_create(
        defaults={
            "model": embedder.name,
            "dimensions": embedder.dimensions,
            "next_model": "",
        }
    )


def facts(count: int, *, about: str = "fact") -> list[str]:
    return [f"The {about} number {number}." for number in range(count)]


def inside(cast: Cast) -> set[UUID]:
    """Returns the ids of the memories in the approximate index."""
    with team_scope(team_ids=[cast.team.id], actor="test"):
        rows = SearchEntry.objects.filter(team=cast.team).exclude(graph_dimensions=0)
        return set(rows.values_list("memory_id", flat=True))


def found(
    cast: Cast,
    tools: Tools,
    question: str,
    *,
    with_cold: bool = False,
    only: Sequence[UUID] | None = None,
    viewer: Viewer | None = None,
) -> dict[UUID, float]:
    """Returns the cosines of the memories that a search by meaning alone finds."""
    vector = tools.embedder.embed([question])[0]
    sought = Sought(
        terms=[],
        vector=vector,
        embedding_model=tools.embedder.name,
        with_cold=with_cold,
        only=None if only is None else uuids(only),
    )
    viewer = viewer or Viewer(team_id=cast.team.id, actor="test")
    with team_scope(team_ids=[cast.team.id], actor="test"):
        rows = find_candidates(viewer=viewer, sought=sought).rows
    return {row.memory_id: row.cosine for row in rows if row.cosine is not None}


def nearest(memories: Sequence[Memory], tools: Tools, question: str, count: int) -> set[UUID]:
    """The memories closest to the question, computed here."""
    vectors = tools.embedder.embed([memory.content for memory in memories])
    cosines = vectors @ tools.embedder.embed([question])[0]
    return {memories[place].pk for place in np.argsort(-cosines)[:count]}


def recall(
    cast: Cast, tools: Tools, memories: Sequence[Memory], *, viewer: Viewer | None = None
) -> float:
    """The share of the 50 nearest that searches find, over ten questions."""
    questions = [f"Question {number}?" for number in range(10)]
    shares = []
    for question in questions:
        wanted = nearest(memories, tools, question, 50)
        shares.append(
            len(wanted & found(cast, tools, question, viewer=viewer).keys()) / len(wanted)
        )
    return float(np.mean(shares))


def uses_graph(cast: Cast, tools: Tools) -> bool:
    """Returns whether the statement of a search of the whole team uses the index."""
    search = VectorSearch(
        team_id=cast.team.id,
        condition="place = 0",
        parameters={},
        vector=tools.embedder.embed(["x"])[0],
        embedding_model=tools.embedder.name,
        limit=10,
    )
    with team_scope(team_ids=[cast.team.id], actor="test"):
        return "graph_dimensions = 32" in search.statement()
