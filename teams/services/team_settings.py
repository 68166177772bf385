"""The settings of a team over the installation's; call all but `default_flags` in its scope."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal
from uuid import UUID

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import connection

from teams.domain.documents import DocumentError
from teams.domain.team_settings import FLAGS, ContextSettings, Flags, LifecycleSettings
from teams.errors import ForbiddenError
from teams.models import Team
from teams.prepared import run_prepared
from teams.tenancy import team_scope

_Column = Literal[
    "feature_flags",
    "context_settings",
    "lifecycle_settings",
    "sensitive_fields",
    "extraction_instructions",
]


_OWN_SCOPE = "set_config('palimpsest.team_ids', $1::text, true)"


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
    """Returns how the team's facts are chosen and rendered as read-only context.

    Call it in the team's scope or outside of any transaction: then it is one statement.
    """
    return ContextSettings.usable(_stored("context_settings", team_id))


def lifecycle_settings_of(*, team_id: UUID) -> LifecycleSettings:
    """Returns how the team's memories are merged, shortened, ranked and forgotten."""
    return LifecycleSettings.usable(_stored("lifecycle_settings", team_id))


def sensitive_fields_of(*, team_id: UUID) -> frozenset[str]:
    """Returns the profile fields that change only with consent."""
    return frozenset(_stored("sensitive_fields", team_id) or ())


def extraction_instructions_of(*, team_id: UUID) -> str:
    """Returns what to look for and to leave out in what is said to the team's agents."""
    return _stored("extraction_instructions", team_id) or ""


def change_team(*, team_id: UUID, columns: Mapping[str, object]) -> Team:
    """Changes settings of the team, which the database keeps as a version; returns the team.

    Raises DocumentError with the fields at fault.
    """
    team = Team.objects.select_for_update().get(pk=team_id)
    for name, value in columns.items():
        setattr(team, name, value)
    try:
        team.clean_fields(exclude={field.name for field in team._meta.fields} - set(columns))
    except ValidationError as error:
        raise DocumentError(error.message_dict) from None
    team.save(update_fields=list(columns))
    return team


def _stored(column: _Column, team_id: UUID) -> Any:  # Any: JSON
    # The column is one of ours.
    statement = f"SELECT {column} FROM teams_team WHERE id = $1::text::uuid"  # noqa: S608
    if connection.in_atomic_block:
        rows = run_prepared(statement, [str(team_id)])
    elif settings.DATABASE_DISTRIBUTED:
        with team_scope(team_ids=[team_id], actor="settings"):
            rows = run_prepared(statement, [str(team_id)])
    else:
        # What is set comes back as the team, so that it is set before the row is looked at.
        rows = run_prepared(
            f"WITH scope AS MATERIALIZED (SELECT {_OWN_SCOPE}::uuid AS id)"  # noqa: S608
            f" SELECT found.{column} FROM scope CROSS JOIN LATERAL ("
            f"SELECT {column} FROM teams_team WHERE id = scope.id OFFSET 0) found",
            [str(team_id)],
        )
    return rows[0][0] if rows else None
