"""A connection is lent while the server holds it, without asking the server."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from django.db import connections

from config.pooled.base import is_alive
from tests.waiting import until


@pytest.fixture
def idle(committed_db: None) -> Iterator[psycopg.Connection[Any]]:
    """A connection as the pool holds it."""
    given = connections["default"].get_connection_params()
    with psycopg.connect(**{**given, "autocommit": True}) as connection:
        yield connection


def test_a_quiet_connection_is_alive(idle: psycopg.Connection[Any]) -> None:
    assert is_alive(idle)
    idle.execute("SELECT 1")
    assert is_alive(idle)


def test_one_that_the_server_ended_is_not(idle: psycopg.Connection[Any]) -> None:
    with connections["owner"].cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s)", [idle.info.backend_pid])

    until(lambda: not is_alive(idle))
    idle.close()
    assert not is_alive(idle)


def test_one_that_only_has_a_message_is(idle: psycopg.Connection[Any]) -> None:
    idle.execute("LISTEN something")
    with connections["owner"].cursor() as cursor:
        cursor.execute("NOTIFY something")

    idle.execute("SELECT 1")
    assert is_alive(idle)


def test_one_in_a_transaction_is_not_lent(idle: psycopg.Connection[Any]) -> None:
    with idle.transaction():
        assert not is_alive(idle)
    assert is_alive(idle)
