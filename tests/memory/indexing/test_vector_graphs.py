"""Large teams' vectors in the approximate index: moved in batches, found as by an exact search."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from io import StringIO
from uuid import UUID, uuid4

import numpy as np
import pytest
from django.core.management import call_command
from django.db import connection, connections
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from memory.clients.tools import Tools
from memory.domain.types import MemoryType, Tier
from memory.domain.viewer import Viewer
from memory.models import EmbeddingState, Memory, SearchEntry, SearchGraph
from memory.selectors.meeting.many_neighbours import Asked
from memory.selectors.searching.signal_rows import Sought
from memory.selectors.searching.signals import find_candidates
from memory.selectors.searching.vectors import VectorSearch, forget_graphs
from memory.services.deciding.state import delete_memory
from memory.services.indexing.reembedding import reembed
from memory.services.indexing.vector_graphs import extend_vector_graphs, waiting_vectors
from memory.services.writing.drafts import Outcome
from memory.services.writing.stored_neighbours import SPARE, TOGETHER, Look, stored_neighbours
from memory.services.writing.surroundings import company_of
from teams.prepared import uuids
from teams.tenancy import team_scope
from tests.conftest import Cast, make_cast
from tests.memory.given_vectors import RandomEmbedder, draft, random_tools, store, write
from tests.teams.test_conversations import race

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
    """What stands in the approximate index."""
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
    """What a search by meaning alone comes to, with the cosines."""
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
    """Whether a search of the whole team has the index in its statement."""
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


# -- filling it ------------------------------------------------------------------------------


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


# -- searching it ----------------------------------------------------------------------------


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
    luke = Viewer(team_id=city.team.id, actor="test", agent_id=city.luke.pk)
    secret = lukes[0]
    assert recall(city, random, [*sarahs, *open_ones, *lukes], viewer=sarah) >= 0.95
    assert recall(city, random, [*open_ones, *sarahs], viewer=kyra) >= 0.95
    assert found(city, random, secret.content, viewer=luke)[secret.pk] > 0.98
    assert secret.pk not in found(city, random, secret.content, viewer=kyra)


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


def test_a_write_meets_its_neighbours_in_a_large_team(city: Cast, random: Tools) -> None:
    memories = store(city, random, *facts(60))
    extend_vector_graphs(fresh=0)

    (again,) = write(city, random, draft(city, memories[0].content))

    assert (again.outcome, again.memory.pk) == (Outcome.DUPLICATE, memories[0].pk)


def test_a_write_meets_what_has_its_subject_in_a_large_team(city: Cast, random: Tools) -> None:
    (old,) = store(city, random, "The API limit is 100.", subject="api.limit")
    store(city, random, *facts(60))
    extend_vector_graphs(fresh=0)

    (new,) = write(city, random, draft(city, "The API limit is now 500.", subject="api.limit"))

    assert old.pk in new.retired


def test_the_index_answers_though_the_planner_believes_the_team_is_small(
    city: Cast, random: Tools
) -> None:
    """It looked at the table before the team came, and would read and sort what is there."""
    store(make_cast(f"city-{uuid4().hex}"), random, *facts(60))
    with connections["owner"].cursor() as cursor:
        cursor.execute("ANALYZE memory_searchentry")
    memories = store(city, random, *facts(60))
    extend_vector_graphs(fresh=0)

    with plans_of("graph_number = ") as plans:
        found(city, random, memories[0].content)
        write(city, random, draft(city, "One more."))

    assert len(plans) == 2
    assert all("memory_search_graph_32_" in plan for plan in plans)


@contextmanager
def plans_of(part: str) -> Iterator[list[str]]:
    """How PostgreSQL goes about the statements that have the part, as they are run."""
    plans: list[str] = []

    def explain(
        execute: Callable[..., list[tuple[str]]], sql: str, *given: object
    ) -> list[tuple[str]]:
        if part in sql:
            plans.append("\n".join(line for (line,) in execute(f"EXPLAIN {sql}", *given)))
        return execute(sql, *given)

    with connection.execute_wrapper(explain):
        yield plans


# -- another model ---------------------------------------------------------------------------


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


# -- by hand ---------------------------------------------------------------------------------


def test_the_command_moves_all_and_says_how_many(city: Cast, random: Tools) -> None:
    store(city, random, *facts(30))
    out = StringIO()

    call_command("index_vectors", stdout=out)

    assert out.getvalue() == "30 vectors indexed.\n"
    assert len(inside(city)) == 30


def test_the_command_has_the_planner_look_again(city: Cast, random: Tools) -> None:
    store(city, random, *facts(30))
    seen = [_last_analysed()]
    call_command("index_vectors", stdout=StringIO())
    seen.append(_last_analysed())

    assert seen[1] is not None
    assert seen[1] != seen[0]


def _last_analysed() -> object:
    with connections["owner"].cursor() as cursor:
        cursor.execute(
            "SELECT max(last_analyze) FROM pg_stat_user_tables WHERE relname = %s",
            ["memory_searchentry"],
        )
        (found,) = cursor.fetchone() or (None,)
    return found


def test_it_may_be_stopped_at_any_time(city: Cast, random: Tools) -> None:
    store(city, random, *facts(1_100))

    def stop(count: int) -> None:
        if count:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        extend_vector_graphs(fresh=0, on_progress=stop)

    assert len(inside(city)) == 500
    assert found(city, random, "The fact number 3.")
    assert extend_vector_graphs(fresh=0) == 600


def test_the_application_may_not_ask_for_an_index_of_any_size(city: Cast) -> None:
    with (
        pytest.raises(Exception, match="cannot be indexed"),
        team_scope(team_ids=[city.team.id], actor="test"),
        connection.cursor() as cursor,
    ):
        cursor.execute("SELECT palimpsest_ensure_graph(5000, 0)")


# -- what a write meets ----------------------------------------------------------------------


def test_a_write_meets_what_is_nearest_inside_the_index_and_outside_it(
    city: Cast, random: Tools
) -> None:
    """By the index for few drafts beside many vectors, else compared with every one of them."""
    memories = store(city, random, *facts(30 * TOGETHER + MANY))
    extend_vector_graphs(fresh=100)
    fresh = store(city, random, *facts(100, about="fresh fact"))
    by_index = {1: True, TOGETHER - 1: True, TOGETHER: True, 3 * TOGETHER: False}
    for drafts, is_walked in by_index.items():
        texts = [f"New fact {number}." for number in range(drafts)]
        looks = [
            Look(Asked(company_of(draft(city, text)), vector), near=3, of_subject=3)
            for text, vector in zip(texts, random.embedder.embed(texts), strict=True)
        ]
        with (
            team_scope(team_ids=[city.team.id], actor="test"),
            CaptureQueriesContext(connection) as queries,
        ):
            found = stored_neighbours(
                looks=looks, embedding_model=random.embedder.name, vectors_a_draft=30
            )

        assert any("hnsw.ef_search" in query["sql"] for query in queries) == is_walked
        wanted = [nearest([*memories, *fresh], random, text, 3 + SPARE) for text in texts]
        met = [{pk for pk, _ in each.near} for each in found]
        hits = sum(len(one & other) for one, other in zip(met, wanted, strict=True))
        assert {len(each) for each in met} == {3 + SPARE}
        assert hits >= 0.95 * drafts * (3 + SPARE)
        # Of 24 drafts the nearest of some are among the latest, and of some among the others.
        outside = {memory.pk for memory in fresh}
        assert drafts < TOGETHER or (
            any(each & outside for each in met) and any(each - outside for each in met)
        )
