"""Vectors moved into the approximate index by hand."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import call_command
from django.db import connection, connections

from memory.understanding.tools import Tools
from memory.writing.indexing.vector_graphs import extend_vector_graphs
from teams.tenancy import team_scope
from tests.support.cast import Cast
from tests.support.large_teams import city, facts, found, inside, random
from tests.support.writing import store

__all__ = ["city", "random"]


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
