"""The consolidation runs of a team."""

from __future__ import annotations

from uuid import UUID

from django.db.models import QuerySet

from memory.satellites.lifecycle.models import ConsolidationRun
from teams.errors import NotFoundError


def run_of(*, team_id: UUID, run_id: UUID, is_locked: bool = False) -> ConsolidationRun:
    """The run, locked on request; call it in the team's scope. Raises NotFoundError."""
    rows = runs_of(team_id=team_id).filter(pk=run_id)
    run = (rows.select_for_update(of=("self",)) if is_locked else rows).first()
    if run is None:
        raise NotFoundError("There is no such consolidation run.")
    return run


def runs_of(
    *, team_id: UUID, state: str | None = None, is_dry: bool | None = None
) -> QuerySet[ConsolidationRun, ConsolidationRun]:
    """The runs of the team with whom they are about, newest first."""
    rows = ConsolidationRun.objects.filter(team_id=team_id).select_related("end_user", "project")
    if state:
        rows = rows.filter(state=state)
    return rows if is_dry is None else rows.filter(is_dry=is_dry)
