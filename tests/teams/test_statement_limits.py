"""PostgreSQL stops a statement that takes longer than the request's kind may."""

from __future__ import annotations

import psycopg
import pytest
from django.db import OperationalError, connection

from config.problems import problem_for
from memory.api.views.memories import MemoryViewSet
from memory.api.views.retrieval import RetrievalViewSet
from teams.tenancy import statements_within, team_scope


def limit() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SHOW statement_timeout")
        return str(cursor.fetchone()[0])


def test_a_scope_has_the_limit_of_its_request_and_the_next_one_its_own(committed_db: None) -> None:
    usual = limit()
    with statements_within(7.0), team_scope(team_ids=[], actor="test"):
        inside = limit()
        with team_scope(team_ids=[], actor="test"):
            assert limit() == inside
    with team_scope(team_ids=[], actor="test"):
        assert limit() == usual

    assert (inside, usual) == ("7s", "1min")


def test_a_statement_that_takes_longer_is_stopped_with_a_problem(committed_db: None) -> None:
    with (
        pytest.raises(OperationalError) as raised,
        statements_within(0.05),
        team_scope(team_ids=[], actor="test"),
        connection.cursor() as cursor,
    ):
        cursor.execute("SELECT pg_sleep(60)")

    assert isinstance(raised.value.__cause__, psycopg.errors.QueryCanceled)
    answer = problem_for(raised.value)
    assert answer is not None
    assert answer.status_code == 503
    assert b"took too long" in answer.content
    assert answer["Retry-After"]


def test_reads_have_less_time_than_writes_and_those_less_than_bulk() -> None:
    memories = MemoryViewSet.as_view({"get": "list", "post": "create", "patch": "partial_update"})
    view = MemoryViewSet(**memories.initkwargs)  # type: ignore[attr-defined]
    view.action_map = {"get": "list", "post": "create", "patch": "partial_update"}

    read, write, bulk = map(view._statement_seconds, ("GET", "PATCH", "POST"))

    assert read < write < bulk
    assert RetrievalViewSet()._statement_seconds("POST") == read
