"""Whether a part is switched on for a team."""

from __future__ import annotations

from uuid import UUID

from django.conf import settings

from teams.domain.flags import FLAGS, Flags
from teams.errors import ForbiddenError
from teams.models import Team
from teams.prepared import run_prepared

_OVERRIDES = "SELECT feature_flags FROM teams_team WHERE id = $1"


def default_flags() -> Flags:
    """The installation's flags, from the settings (ENABLE_MEMORY and so on)."""
    return Flags(**{name: getattr(settings, f"ENABLE_{name.upper()}") for name in FLAGS})


def flags_of(*, team: Team) -> Flags:
    """The installation's flags under the team's overrides."""
    return default_flags().overridden(team.feature_flags)


def flags_of_id(*, team_id: UUID) -> Flags:
    """The flags of the team of that id, in one query; call it in the team's scope."""
    rows = run_prepared(_OVERRIDES, [team_id])
    return default_flags().overridden(rows[0][0] if rows else None)


def require_memory(flags: Flags) -> None:
    """Raise ForbiddenError when memory is switched off."""
    if not flags.memory:
        raise ForbiddenError(
            "Memory is switched off for this team, so nothing is remembered or retrieved. What is"
            " stored stays, and messages are kept. A team admin switches it on again in the"
            " team's feature flags (memory), or who runs the server with ENABLE_MEMORY."
        )
