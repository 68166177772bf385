"""The sensitive profile fields of a team, as its settings say."""

from __future__ import annotations

from uuid import UUID

from teams.prepared import run_prepared

_FIELDS = "SELECT sensitive_fields FROM teams_team WHERE id = $1"


def sensitive_fields_of(*, team_id: UUID) -> frozenset[str]:
    """The fields that change only with a yes; call it in the team's scope."""
    rows = run_prepared(_FIELDS, [team_id])
    return frozenset(rows[0][0]) if rows else frozenset()
