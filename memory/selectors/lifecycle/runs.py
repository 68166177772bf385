"""The consolidation runs of a team."""

from __future__ import annotations

from uuid import UUID

from memory.models import ConsolidationRun
from teams.errors import NotFoundError


def run_of(*, team_id: UUID, run_id: UUID, is_locked: bool = False) -> ConsolidationRun:
    """The run, locked on request; call it in the team's scope. Raises NotFoundError."""
    rows = ConsolidationRun.objects.filter(team_id=team_id, pk=run_id)
    run = (rows.select_for_update(of=("self",)) if is_locked else rows).first()
    if run is None:
        raise NotFoundError("There is no such consolidation run.")
    return run
