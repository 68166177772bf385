"""How a team's memories are tended, as its settings say."""

from __future__ import annotations

from uuid import UUID

from teams.domain.lifecycle_settings import LifecycleSettings
from teams.prepared import run_prepared

_SETTINGS = "SELECT lifecycle_settings FROM teams_team WHERE id = $1"


def lifecycle_settings_of(*, team_id: UUID) -> LifecycleSettings:
    """The defaults under what the team chose otherwise; call it in the team's scope."""
    rows = run_prepared(_SETTINGS, [team_id])
    return LifecycleSettings.of(rows[0][0] if rows else None)
