"""Lets a project that was written to be held to its limit, soon after the write commits."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from memory.writing.background import send_after_commit
from memory.writing.write.drafts import Outcome, WriteResult

KEEP_TO_LIMIT_TASK = "memory.tasks.keep_project_to_limit"
_GATHER_SECONDS = 5
_NOT_MORE = (Outcome.DUPLICATE, Outcome.HELD)


def note_growth(results: Iterable[WriteResult]) -> None:
    """Sends a task for each project that a write gave memories to, once it commits."""
    grown = {
        (result.memory.team_id, result.memory.project_id)
        for result in results
        if result.memory.project_id is not None and result.outcome not in _NOT_MORE
    }
    for team_id, project_id in grown:
        keep_to_limit_soon(team_id, project_id)


def keep_to_limit_soon(team_id: UUID, project_id: UUID) -> None:
    """Sends the task of one project once the transaction commits."""
    send_after_commit(KEEP_TO_LIMIT_TASK, team_id, project_id, gather_seconds=_GATHER_SECONDS)
