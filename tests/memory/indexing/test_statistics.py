"""The planner hears of tables that have grown much, and not of every few rows."""

from __future__ import annotations

from uuid import uuid4

import pytest
from django.db import DatabaseError, connection

from memory.tasks import renew_statistics as task
from memory.understanding.tools import Tools
from memory.writing.indexing.vector_graphs import (
    WORTH_IT,
    renew_outdated_statistics,
    renew_statistics,
)
from teams.tenancy import team_scope
from tests.support.cast import make_cast
from tests.support.embedders import random_tools
from tests.support.writing import draft, write

FILLED = ("memory_memory", "memory_searchentry")


def fill(tools: Tools, count: int) -> None:
    """So many memories of a new team, counted as changed rows at once."""
    cast = make_cast(f"crowd-{uuid4().hex}")
    drafts = [draft(cast, f"Lamp {n} is lit.", check=False) for n in range(count)]
    write(cast, random_tools(tools), *drafts)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_force_next_flush()")


def rows_the_planner_knows() -> list[float]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT reltuples FROM pg_class WHERE relname = ANY (%s) AND relkind = 'r'",
            [list(FILLED)],
        )
        return [count for (count,) in cursor.fetchall()]


def test_after_a_large_import_the_planner_knows_how_much_there_is(
    committed_db: None, tools: Tools
) -> None:
    fill(tools, WORTH_IT + 10)

    # By the task, or by PostgreSQL's own daemon if that was quicker.
    task()

    assert min(rows_the_planner_knows()) >= WORTH_IT


def test_few_changes_wait_for_the_daemon(committed_db: None, tools: Tools) -> None:
    fill(tools, 10)
    renew_statistics()
    fill(tools, 10)

    assert renew_outdated_statistics() == []


def test_asked_for_it_looks_at_every_table(committed_db: None) -> None:
    assert set(renew_statistics()) >= set(FILLED)


def test_the_application_may_have_no_other_table_looked_at(db: None) -> None:
    with (
        pytest.raises(DatabaseError, match="not a table whose statistics are renewed"),
        connection.cursor() as cursor,
    ):
        cursor.execute("SELECT palimpsest_renew_statistics('teams_apikey', 0, 0)")


def test_one_memorys_counters_are_not_looked_up_among_all_of_its_team(db: None) -> None:
    cast = make_cast("counted")
    with team_scope(team_ids=[cast.team.pk], actor="tests"), connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute("SET LOCAL enable_bitmapscan = off")
        cursor.execute(
            "EXPLAIN SELECT * FROM memory_memoryusage WHERE team_id = %s AND memory_id = %s",
            [cast.team.pk, uuid4()],
        )
        plan = "\n".join(line for (line,) in cursor.fetchall())

    assert "memory_memoryusage_pkey" in plan
    assert "memory_usage_by_access" not in plan
