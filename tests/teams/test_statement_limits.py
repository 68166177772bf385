"""PostgreSQL stops a statement that takes longer than the request's kind may."""

from __future__ import annotations

from collections.abc import Callable

import psycopg
import pytest
from django.db import OperationalError, connection
from rest_framework.test import APIClient

from config.problems import problem_for
from teams.tenancy import statements_within, team_scope
from tests.support.cast import make_cast


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


def test_requests_that_only_read_have_less_time_than_others(
    committed_db: None, client_of: Callable[..., APIClient]
) -> None:
    client = client_of(make_cast("acme"))
    asked = {"agent": "kyra", "query": "Where does Sarah live?"}
    found: set[str] = set()

    def note(execute: Callable[..., object], *args: object) -> object:
        found.add(connection.connection.execute("SHOW statement_timeout").fetchone()[0])
        return execute(*args)

    limits = []
    for send in (
        lambda: client.get("/v1/memories"),
        lambda: client.post("/v1/retrieve", asked, format="json"),
        lambda: client.post("/v1/memories", {"content": "Sarah likes tea."}, format="json"),
    ):
        found.clear()
        with connection.execute_wrapper(note):
            assert send().status_code in (200, 201)
        limits.append(found - {"1min"})

    assert limits == [{"15s"}, {"15s"}, set()]
