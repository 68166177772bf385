"""The settings of a team over the installation's; call all but `default_flags` in its scope."""

from __future__ import annotations

from typing import Any, Literal
from uuid import UUID

from django.conf import settings

from teams.domain.team_settings import FLAGS, ContextSettings, Flags, LifecycleSettings
from teams.errors import ForbiddenError
from teams.models import Team
from teams.prepared import run_prepared

_Column = Literal["feature_flags", "context_settings", "lifecycle_settings", "sensitive_fields"]


def default_flags() -> Flags:
    """Returns the installation's flags, from the settings (ENABLE_MEMORY and so on)."""
    return Flags(**{name: getattr(settings, f"ENABLE_{name.upper()}") for name in FLAGS})


def flags_of(*, team: Team) -> Flags:
    """Returns the installation's flags under the team's overrides."""
    return default_flags().overridden(team.feature_flags)


def flags_of_id(*, team_id: UUID) -> Flags:
    """Returns the flags of the team of that id."""
    return default_flags().overridden(_stored("feature_flags", team_id))


def require_memory(flags: Flags) -> None:
    """Raises ForbiddenError when memory is switched off."""
    if not flags.memory:
        raise ForbiddenError(
            "Memory is switched off for this team, so nothing is remembered or retrieved. What is"
            " stored stays, and messages are kept. A team admin switches it on again in the"
            " team's feature flags (memory), or who runs the server with ENABLE_MEMORY."
        )


def context_settings_of(*, team_id: UUID) -> ContextSettings:
    """Returns how the team's facts are chosen and rendered as read-only context."""
    return ContextSettings.usable(_stored("context_settings", team_id))


def lifecycle_settings_of(*, team_id: UUID) -> LifecycleSettings:
    """Returns how the team's memories are merged, shortened, ranked and forgotten."""
    return LifecycleSettings.usable(_stored("lifecycle_settings", team_id))


def sensitive_fields_of(*, team_id: UUID) -> frozenset[str]:
    """Returns the profile fields that change only with consent."""
    return frozenset(_stored("sensitive_fields", team_id) or ())


def _stored(column: _Column, team_id: UUID) -> Any:  # Any: JSON
    # The column is one of ours.
    rows = run_prepared(f"SELECT {column} FROM teams_team WHERE id = $1", [team_id])  # noqa: S608
    return rows[0][0] if rows else None
