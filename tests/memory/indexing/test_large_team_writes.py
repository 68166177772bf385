"""Writes in a team with an approximate index of its vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from uuid import uuid4

import pytest
from django.db import connection, connections
from django.test.utils import CaptureQueriesContext

from memory.selectors.neighbours import Asked, nearest_memories
from memory.understanding.tools import Tools
from memory.writing.drafts import Outcome
from memory.writing.indexing.vector_graphs import extend_vector_graphs
from memory.writing.neighbours import comparison_set
from teams.tenancy import team_scope
from tests.support.cast import Cast, make_cast
from tests.support.large_teams import MANY, city, facts, found, nearest, random
from tests.support.writing import draft, store, write

__all__ = ["city", "random"]


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
    """Collects PostgreSQL's plans of the statements that contain the part, as they are run."""
    plans: list[str] = []

    def explain(
        execute: Callable[..., list[tuple[str]]], sql: str, *given: object
    ) -> list[tuple[str]]:
        if part in sql:
            plans.append("\n".join(line for (line,) in execute(f"EXPLAIN {sql}", *given)))
        return execute(sql, *given)

    with connection.execute_wrapper(explain):
        yield plans


@pytest.mark.parametrize("drafts", [1, 24])
def test_a_write_meets_what_is_nearest_inside_the_index_and_outside_it(
    city: Cast, random: Tools, drafts: int
) -> None:
    memories = store(city, random, *facts(240 + MANY))
    extend_vector_graphs(fresh=100)
    fresh = store(city, random, *facts(100, about="fresh fact"))
    texts = [f"New fact {number}." for number in range(drafts)]
    asked = [
        Asked(comparison_set(draft(city, text)), vector)
        for text, vector in zip(texts, random.embedder.embed(texts), strict=True)
    ]
    with (
        team_scope(team_ids=[city.team.id], actor="test"),
        CaptureQueriesContext(connection) as queries,
    ):
        found = nearest_memories(asked=asked, embedding_model=random.embedder.name, limit=8)

    # By the index, and what no index holds yet is asked for by the same statement.
    assert sum("graph_number = " in query["sql"] for query in queries) == 1
    assert sum("WITH asked" in query["sql"] for query in queries) == 1
    wanted = [nearest([*memories, *fresh], random, text, 8) for text in texts]
    met = [set(each.near) for each in found]
    hits = sum(len(one & other) for one, other in zip(met, wanted, strict=True))
    assert {len(each) for each in met} == {8}
    assert hits >= 0.95 * drafts * 8
    # Of 24 drafts the nearest of some are among the latest, and of some among the others.
    outside = {memory.pk for memory in fresh}
    assert drafts == 1 or (
        any(each & outside for each in met) and any(each - outside for each in met)
    )
