"""Rows that a page of the log reads to find its own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import connections
from django.utils import timezone

from audit.models import MemoryLog
from memory.domain.audience import Viewer
from memory.models import Memory
from memory.selectors.history.log import LogFilters, filtered_log
from teams.tenancy import team_scope
from tests import factories
from tests.support.cast import Cast, make_cast

MEMORIES, CHANGES = 20, 60
# More rows than are looked up by their time.
BUSY = 75


@pytest.fixture
def town(committed_db: None) -> Cast:
    """A team with a log of some length, which the planner knows."""
    cast = make_cast(f"log-{uuid4().hex}")
    with team_scope(team_ids=[cast.team.id], actor="first"):
        factories.MemoryFactory.create_batch(MEMORIES, team=cast.team, importance=1)
    for number in range(CHANGES):
        with team_scope(team_ids=[cast.team.id], actor="later"):
            Memory.objects.filter(team=cast.team).update(importance=2 + number % 2)
    with connections["owner"].cursor() as cursor:
        cursor.execute("ANALYZE audit_memorylog")
    return cast


@pytest.fixture
def old_town(committed_db: None) -> Cast:
    """A team that was busy ten days ago, and then today."""
    cast = make_cast(f"log-{uuid4().hex}")
    with team_scope(team_ids=[cast.team.id], actor="once"):
        factories.MemoryFactory.create_batch(BUSY, team=cast.team, importance=1)
    change(cast, times=BUSY, actor="once")
    with connections["owner"].cursor() as cursor:
        for table, times in (("audit_memorylog", ("at",)), ("audit_logcommit", ("at", "began_at"))):
            earlier = ", ".join(f"{name} = {name} - interval '10 days'" for name in times)
            cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
            cursor.execute(f"UPDATE {table} SET {earlier} WHERE team_id = %s", [cast.team.id])
            cursor.execute(f"ALTER TABLE {table} ENABLE TRIGGER USER")
    change(cast, times=10, actor="today")
    with connections["owner"].cursor() as cursor:
        cursor.execute("ANALYZE audit_memorylog")
    return cast


def change(town: Cast, *, times: int, actor: str) -> None:
    """Change every memory so often."""
    with team_scope(team_ids=[town.team.id], actor=actor):
        for number in range(times):
            Memory.objects.filter(team=town.team).update(importance=2 + number % 2)


def scans(plan: Any) -> Iterator[Any]:
    """The steps of a plan, each with what is below it."""
    yield plan
    for below in plan.get("Plans", ()):
        yield from scans(below)


def found_by(town: Cast, filters: LogFilters) -> tuple[int, int]:
    """Returns the number of rows a page holds, and of those read in vain for it."""
    viewer = Viewer(team_id=town.team.id, actor="test")
    with team_scope(team_ids=[town.team.id], actor="test"):
        rows = filtered_log(viewer=viewer, filters=filters).order_by("-seq")[:50]
        told = json.loads(rows.explain(analyze=True, format="json"))
        found = len(rows)
    steps = list(scans(told[0]["Plan"]))
    reasons = ("Rows Removed by Filter", "Rows Removed by Index Recheck")
    return found, sum(step.get(reason, 0) for step in steps for reason in reasons)


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        (LogFilters(event=("archived",)), 0),
        (LogFilters(event=("archived", "restored")), 0),
        (LogFilters(event=("created",)), MEMORIES),
        (LogFilters(actor="nobody"), 0),
        (LogFilters(actor="first"), MEMORIES),
        (LogFilters(event=("archived",), actor="later"), 0),
    ],
)
def test_rare_events_and_actors_are_found_without_reading_the_log(
    town: Cast, filters: LogFilters, found: int
) -> None:
    page, in_vain = found_by(town, filters)

    assert page == found
    assert in_vain < MEMORIES


def test_the_rows_of_a_time_are_found_without_reading_the_log(town: Cast) -> None:
    with team_scope(team_ids=[town.team.id], actor="test"):
        rows = MemoryLog.objects.filter(team=town.team)
        last = rows.order_by("-at").values_list("at", flat=True)[MEMORIES - 1]
        second = rows.filter(actor="later").order_by("at").values_list("at", flat=True)[0]

    newest = found_by(town, LogFilters(begin=last))
    oldest = found_by(town, LogFilters(end=second))
    none = found_by(town, LogFilters(begin=second, end=second))

    assert [newest[0], oldest[0], none[0]] == [MEMORIES, MEMORIES, 0]
    assert max(newest[1], oldest[1], none[1]) < MEMORIES


def test_a_long_log_is_read_up_to_a_time_without_what_came_after_it(old_town: Cast) -> None:
    end = timezone.now() - timedelta(days=5)
    with team_scope(team_ids=[old_town.team.id], actor="test"):
        rows = MemoryLog.objects.filter(team=old_town.team, actor="once").order_by("-seq")
        newest = list(rows.values_list("seq", flat=True)[:50])
        viewer = Viewer(team_id=old_town.team.id, actor="test")
        page = filtered_log(viewer=viewer, filters=LogFilters(end=end)).order_by("-seq")[:50]
        assert [row.seq for row in page] == newest

    found, in_vain = found_by(old_town, LogFilters(end=end))

    assert found == 50
    assert in_vain < BUSY
