"""Whole consolidation runs of a team, and what they planned."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from memory.clients.tools import Tools
from memory.domain.viewer import Viewer
from memory.models import ConsolidationChange, ConsolidationRun
from memory.services.lifecycle.running import run_consolidation
from memory.services.lifecycle.runs import start_run
from teams.tenancy import team_scope
from tests.support.cast import Cast

NOW = datetime(2026, 5, 2, 3, tzinfo=UTC)


def viewer_of(cast: Cast) -> Viewer:
    """A person in the admin."""
    return Viewer(team_id=cast.team.id, actor="admin:test")


def consolidated(
    cast: Cast,
    tools: Tools,
    *,
    now: datetime = NOW,
    after_plan: Callable[[], None] | None = None,
    **given: Any,
) -> ConsolidationRun:
    """A whole run; `after_plan` happens between its plan and its changes."""
    started = start_run(viewer=viewer_of(cast), now=now, **given)
    if after_plan is not None:
        while not again(started).is_planned:
            run_consolidation(team_id=cast.team.id, run_id=started.pk, tools=tools, seconds=0)
        after_plan()
    run_consolidation(team_id=cast.team.id, run_id=started.pk, tools=tools)
    return again(started)


def again(row: ConsolidationRun) -> ConsolidationRun:
    """The run as it is stored."""
    with team_scope(team_ids=[row.team_id], actor="test"):
        return ConsolidationRun.objects.get(team_id=row.team_id, pk=row.pk)


def changes(row: ConsolidationRun) -> list[tuple[Any, ...]]:
    """What it planned, without which run it was."""
    names = ("position", "step", "kind", "memory_id", "other_id", "before", "after", "because")
    with team_scope(team_ids=[row.team_id], actor="test"):
        return list(ConsolidationChange.objects.filter(run=row).values_list(*names))
