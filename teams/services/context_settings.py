"""How a team's facts are told as read-only context, as its settings say."""

from __future__ import annotations

from uuid import UUID

from teams.domain.context_settings import ContextSettings
from teams.prepared import run_prepared

_SETTINGS = "SELECT context_settings FROM teams_team WHERE id = $1"


def context_settings_of(*, team_id: UUID) -> ContextSettings:
    """The defaults under what the team chose otherwise; call it in the team's scope."""
    rows = run_prepared(_SETTINGS, [team_id])
    return ContextSettings.of(rows[0][0] if rows else None)
