"""Runs of a consolidation over a cast's team, and memories with the use that a test needs."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from memory.domain.audience import Viewer
from memory.models import Memory, MemoryUsage
from memory.satellites.lifecycle.models import ConsolidationChange, ConsolidationRun
from memory.satellites.lifecycle.running import run_consolidation
from memory.satellites.lifecycle.runs import start_run
from memory.understanding.tools import Tools
from teams.tenancy import team_scope
from tests.factories import MemoryFactory
from tests.support.cast import Cast

NOW = datetime(2026, 5, 2, 3, tzinfo=UTC)


def viewer_of(cast: Cast) -> Viewer:
    """An admin of the team."""
    return Viewer(team_id=cast.team.id, actor="admin:test")


def run(
    cast: Cast,
    tools: Tools,
    *,
    now: datetime = NOW,
    after_plan: Callable[[], None] | None = None,
    **given: Any,
) -> ConsolidationRun:
    """A whole run at `now`; `after_plan` happens between its plan and its changes."""
    started = start_run(viewer=viewer_of(cast), now=now, **given)
    given_on: dict[str, Any] = {
        "team_id": cast.team.id,
        "run_id": started.pk,
        "tools": tools,
        "clock": lambda: now,
    }
    if after_plan is not None:
        while not again(started).is_planned:
            run_consolidation(**given_on, seconds=0)
        after_plan()
    run_consolidation(**given_on)
    return again(started)


def again(row: ConsolidationRun) -> ConsolidationRun:
    """The run as it is stored."""
    with team_scope(team_ids=[row.team_id], actor="test"):
        return ConsolidationRun.objects.get(team_id=row.team_id, pk=row.pk)


def changes(row: ConsolidationRun) -> list[tuple[Any, ...]]:
    """Returns the planned changes, without the id of the run."""
    names = ("position", "step", "kind", "memory_id", "other_id", "before", "after", "because")
    with team_scope(team_ids=[row.team_id], actor="test"):
        return list(ConsolidationChange.objects.filter(run=row).values_list(*names))


def now_of(cast: Cast, memory_id: UUID) -> Memory:
    """The memory as it stands."""
    with team_scope(team_ids=[cast.team.id], actor="test"):
        return Memory.objects.get(team_id=cast.team.id, pk=memory_id)


def told(cast: Cast, memory_id: UUID, *, at: datetime, times: int = 1) -> None:
    """Count so many retrievals of a moment, as the flush of the counters does."""
    day = at.date().isoformat()
    with team_scope(team_ids=[cast.team.id], actor="test"):
        usage, _ = MemoryUsage.objects.get_or_create(team_id=cast.team.id, memory_id=memory_id)
        usage.retrieved += times
        usage.daily = {**usage.daily, day: usage.daily.get(day, 0) + times}
        usage.last_accessed_at = max(at, usage.last_accessed_at or at)
        usage.save()


def store_deleted(cast: Cast, count: int) -> None:
    """Store so many memories that are deleted already; the log counts each as changed."""
    with team_scope(team_ids=[cast.team.id], actor="test"):
        rows = MemoryFactory.build_batch(
            count, team_id=cast.team.id, status="soft_deleted", tier="cold"
        )
        Memory.objects.bulk_create(rows)


def choose(cast: Cast, **settings: object) -> None:
    """Let the team have these settings of its consolidation."""
    with team_scope(team_ids=[cast.team.id], actor="test"):
        cast.team.lifecycle_settings = settings
        cast.team.save(update_fields=["lifecycle_settings"])
