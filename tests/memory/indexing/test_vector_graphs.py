"""Large teams' vectors in the approximate index: moved in batches, found as by an exact search."""

from __future__ import annotations

from dataclasses import replace
from uuid import uuid4

import pytest

from memory.domain.audience import Viewer
from memory.domain.types import MemoryType, Tier
from memory.models import EmbeddingState, Memory, SearchEntry, SearchGraph
from memory.understanding.tools import Tools
from memory.writing.decisions.changes import delete_memory
from memory.writing.indexing.reembedding import reembed
from memory.writing.indexing.vector_graphs import extend_vector_graphs, waiting_vectors
from teams.tenancy import team_scope
from tests.support.cast import Cast, make_cast
from tests.support.embedders import RandomEmbedder, random_tools
from tests.support.large_teams import (
    MANY,
    city,
    facts,
    found,
    inside,
    random,
    recall,
    use,
    uses_graph,
)
from tests.support.waiting import race
from tests.support.writing import draft, store, write

__all__ = ["city", "random"]


# -- filling it ------------------------------------------------------------------------------------


def test_a_small_team_has_no_graph(city: Cast, random: Tools) -> None:
    store(city, random, *facts(20))

    assert extend_vector_graphs(fresh=0) == 0
    assert not uses_graph(city, random)


def test_a_large_teams_vectors_move_in_batches(city: Cast, random: Tools) -> None:
    store(city, random, *facts(1_100))
    steps: list[int] = []

    moved = extend_vector_graphs(fresh=0, on_progress=steps.append)

    assert moved >= 1_100  # teams of other tests may be large too
    assert max(steps) == 500
    assert len(inside(city)) == 1_100
    assert waiting_vectors() == 0


def test_the_latest_vectors_stay_outside_until_they_are_many(city: Cast, random: Tools) -> None:
    store(city, random, *facts(100))
    extend_vector_graphs(fresh=0)
    store(city, random, *facts(10, about="latest fact"))

    assert extend_vector_graphs(fresh=10) == 0
    store(city, random, "One more.")

    assert extend_vector_graphs(fresh=10) == 11


def test_it_stops_in_time_and_goes_on_at_the_next_call(city: Cast, random: Tools) -> None:
    store(city, random, *facts(40))

    assert extend_vector_graphs(seconds=0.0, fresh=0) == 0
    assert extend_vector_graphs(fresh=0) == 40


def test_every_large_team_gets_its_turn(city: Cast, random: Tools) -> None:
    other = make_cast(f"city-{uuid4().hex}")
    store(city, random, *facts(30))
    store(other, random, *facts(30))

    extend_vector_graphs(fresh=0)

    assert (len(inside(city)), len(inside(other))) == (30, 30)


def test_two_calls_at_once_move_each_vector_once(city: Cast, random: Tools) -> None:
    others = [make_cast(f"city-{uuid4().hex}") for _ in range(3)]
    for cast in (city, *others):
        store(cast, random, *facts(60))

    moved = race(4, lambda _: extend_vector_graphs(fresh=0))

    for cast in (city, *others):
        assert len(inside(cast)) == 60
    assert sum(moved) == 240


def test_writers_beside_it_go_on(city: Cast, random: Tools) -> None:
    store(city, random, *facts(60))

    def act(number: int) -> None:
        if number == 0:
            extend_vector_graphs(fresh=0)
        else:
            store(city, random, *facts(20, about=f"fact of writer {number}"))

    race(4, act)

    with team_scope(team_ids=[city.team.id], actor="test"):
        assert SearchEntry.objects.filter(team=city.team).count() == 120


# -- searching it ----------------------------------------------------------------------------------


def test_it_finds_what_an_exact_search_finds(city: Cast, random: Tools) -> None:
    memories = store(city, random, *facts(MANY))
    extend_vector_graphs(fresh=0)
    memories += store(city, random, *facts(30, about="latest fact"))

    assert uses_graph(city, random)
    assert recall(city, random, memories) >= 0.95
    for latest in memories[-30:]:
        assert found(city, random, latest.content)[latest.pk] == pytest.approx(1.0, abs=0.01)


def test_nothing_is_lost_to_a_narrowed_viewer(city: Cast, random: Tools) -> None:
    """Of many memories few are Sarah's, fewer Luke's own: theirs are found among them all."""
    store(city, random, *facts(MANY))
    sarahs = store(city, random, *facts(60, about="tea"), end_user_id=city.sarah.pk)
    lukes = store(
        city,
        random,
        *facts(30, about="secret"),
        memory_type=MemoryType.AGENT_PRIVATE,
        agent_id=city.luke.pk,
    )
    extend_vector_graphs(fresh=0)

    with team_scope(team_ids=[city.team.id], actor="test"):
        open_ones = list(Memory.objects.filter(end_user=None, agent=None))
    sarah = Viewer(team_id=city.team.id, actor="test", end_user_id=city.sarah.pk)
    kyra = Viewer(team_id=city.team.id, actor="test", agent_id=city.kyra.pk)
    hers = replace(kyra, end_user_id=city.sarah.pk)
    luke = Viewer(team_id=city.team.id, actor="test", agent_id=city.luke.pk)
    secret = lukes[0]
    assert recall(city, random, [*sarahs, *open_ones, *lukes], viewer=sarah) >= 0.95
    assert recall(city, random, [*open_ones, *sarahs], viewer=hers) >= 0.95
    assert recall(city, random, open_ones, viewer=kyra) >= 0.95
    assert found(city, random, secret.content, viewer=luke)[secret.pk] > 0.98
    assert secret.pk not in found(city, random, secret.content, viewer=kyra)
    assert sarahs[0].pk not in found(city, random, sarahs[0].content, viewer=kyra)


def test_a_large_team_loses_nothing_beside_a_larger_one(city: Cast, random: Tools) -> None:
    larger = make_cast(f"city-{uuid4().hex}")
    store(larger, random, *facts(2_000, about="thing"))
    memories = store(city, random, *facts(100))

    extend_vector_graphs(fresh=0)

    assert recall(city, random, memories) >= 0.95


def test_what_is_no_longer_found_leaves_the_graph(city: Cast, random: Tools) -> None:
    old, gone, cold, *others = store(city, random, *facts(40))
    extend_vector_graphs(fresh=0)
    viewer = Viewer(team_id=city.team.id, actor="test")

    (new,) = write(city, random, draft(city, "The new state.", replaces=(old.pk,)))
    delete_memory(viewer=viewer, memory_id=gone.pk)
    with team_scope(team_ids=[city.team.id], actor="test"):
        Memory.objects.filter(pk=cold.pk).update(tier=Tier.COLD.value)

    assert inside(city) == {each.pk for each in others}
    by_default = found(city, random, old.content)
    assert not {old.pk, gone.pk, cold.pk} & by_default.keys()
    assert new.memory.pk in found(city, random, "The new state.")
    archive = found(city, random, old.content, with_cold=True)
    assert archive[old.pk] > 0.98
    assert found(city, random, cold.content, with_cold=True)[cold.pk] > 0.98
    assert gone.pk not in found(city, random, gone.content, with_cold=True)


def test_a_search_among_given_memories_is_exact(city: Cast, random: Tools) -> None:
    memories = store(city, random, *facts(MANY))
    extend_vector_graphs(fresh=0)
    few = [each.pk for each in memories[:7]]

    assert set(found(city, random, "Anything?", only=few)) == set(few)


# -- another model ---------------------------------------------------------------------------------


def test_a_reembedding_keeps_searches_working_and_the_graph_is_built_anew(
    city: Cast, tools: Tools, random: Tools
) -> None:
    memories = store(city, random, *facts(60))
    extend_vector_graphs(fresh=0)
    larger = random_tools(tools, dimensions=48)
    seen: list[bool] = []

    def look(_: float) -> None:
        state = EmbeddingState.objects.get()
        active = larger if state.model == larger.embedder.name else random
        seen.append(found(city, active, memories[0].content)[memories[0].pk] > 0.98)
        # Whoever embedded the question a moment ago still asks with the old vector.
        seen.append(found(city, random, memories[1].content)[memories[1].pk] > 0.98)
        assert extend_vector_graphs(fresh=0) == 0 or state.model == larger.embedder.name

    reembed(embedder=larger.embedder, batch=25, grace_seconds=5.0, on_progress=look, sleep=look)

    assert len(seen) > 4
    assert all(seen)
    assert inside(city) == set()
    assert found(city, larger, memories[0].content)[memories[0].pk] > 0.98
    # Teams of other tests may be large too.
    assert extend_vector_graphs(fresh=0) >= 60
    assert len(inside(city)) == 60
    with team_scope(team_ids=[city.team.id], actor="test"):
        graph = SearchGraph.objects.get()
    assert (graph.model, graph.dimensions) == (larger.embedder.name, 48)
    assert recall(city, larger, memories) >= 0.95


def test_vectors_that_no_graph_can_hold_are_searched_exactly(city: Cast, tools: Tools) -> None:
    huge = random_tools(tools, dimensions=4_001)
    use(RandomEmbedder(dimensions=4_001))
    memories = store(city, huge, *facts(30))

    assert extend_vector_graphs(fresh=0) == 0
    assert found(city, huge, memories[0].content)[memories[0].pk] > 0.98


def test_vectors_of_most_dimensions_are_indexed(city: Cast, tools: Tools) -> None:
    huge = random_tools(tools, dimensions=4_000)
    use(RandomEmbedder(dimensions=4_000))
    memories = store(city, huge, *facts(30))

    assert extend_vector_graphs(fresh=0) == 30
    assert found(city, huge, memories[0].content)[memories[0].pk] > 0.98
