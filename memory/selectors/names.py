"""Whom the names in a request mean, and at which revision of their team, in one statement."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from uuid import UUID

from django.db import connection

from memory.selectors.revisions import REVISION, Revision
from teams.models import Agent, Role
from teams.prepared import Columns, current_scope, run_prepared
from teams.tenancy import team_scope

_AGENT = Columns(Agent)
# Outside of a transaction the statement sets the scope itself: what is set comes back as the team
# that is asked for, and OFFSET 0 keeps each table from being looked at before.
_OWN_SCOPE = "set_config('palimpsest.team_ids', $1::text, true)::uuid"
_STATEMENT = """
WITH scope AS MATERIALIZED (SELECT {team} AS team_id)
SELECT r.revision, u.id, coalesce(u.role, t.person_role), p.id, {columns}
FROM scope
LEFT JOIN LATERAL ({revision}) AS r (revision) ON true
LEFT JOIN LATERAL (
    SELECT * FROM teams_agent WHERE team_id = scope.team_id AND slug = coalesce(
        (
            SELECT o.slug FROM teams_agentalias n
            JOIN teams_agent o ON o.team_id = n.team_id AND o.id = n.agent_id
            WHERE n.team_id = scope.team_id AND n.slug = $2::text
        ),
        $2::text
    ) OFFSET 0
) AS a ON true
LEFT JOIN LATERAL (
    SELECT id, nullif(role, '') AS role FROM teams_enduser
    WHERE team_id = scope.team_id AND external_id = $3::text OFFSET 0
) AS u ON true
LEFT JOIN LATERAL (
    SELECT person_role FROM teams_team WHERE id = scope.team_id OFFSET 0
) AS t ON true
LEFT JOIN LATERAL (
    SELECT id FROM teams_project WHERE team_id = scope.team_id AND slug = $4::text OFFSET 0
) AS p ON true
"""
_ROLE = """
SELECT coalesce(nullif(u.role, ''), t.person_role)
FROM teams_enduser u JOIN teams_team t ON t.id = u.team_id WHERE u.team_id = $1 AND u.id = $2
"""
_ALONE, _IN_SCOPE = (
    _STATEMENT.format(
        team=team,
        columns=_AGENT.named("a"),
        revision=REVISION.replace("%(team)s", "scope.team_id"),
    )
    for team in (_OWN_SCOPE, "$1::text::uuid")
)


@dataclass(frozen=True, slots=True)
class Named:
    """What the names of a request mean, None for unknown; `revision` is None in a transaction."""

    agent: Agent | None
    end_user_id: UUID | None
    project_id: UUID | None
    is_guest: bool = True
    revision: Revision | None = None


def role_of(*, team_id: UUID, end_user_id: UUID) -> str:
    """The person's role in the team, "member" or "guest"; call it in the team's scope."""
    rows = run_prepared(_ROLE, [team_id, end_user_id])
    return str(rows[0][0]) if rows else Role.GUEST.value


def is_guest(*, team_id: UUID, end_user_id: UUID) -> bool:
    """Returns whether the person is a guest of the team; call it in the team's scope."""
    return role_of(team_id=team_id, end_user_id=end_user_id) != Role.MEMBER


def names_of(
    *, team_id: UUID, agent: str | None, user: str | None = None, project: str | None = None
) -> Named:
    """The team's agent by its slug or alias, end user by its external id and project by its slug.

    Call it in the team's scope or in none: outside of any transaction it is one statement with a
    scope of its own.
    """
    if agent is None and user is None and project is None:
        return Named(None, None, None)
    given = [str(team_id), agent, user, project]
    if not connection.in_atomic_block:
        ((counts, *found),) = run_prepared(_ALONE, given)
    else:
        is_seen = team_id in current_scope().team_ids
        with nullcontext() if is_seen else team_scope(team_ids=[team_id], actor="names"):
            ((counts, *found),) = run_prepared(_IN_SCOPE, given)
        counts = None
    end_user_id, role, project_id, *values = found
    return Named(
        agent=_AGENT.take(iter(values)),
        end_user_id=end_user_id,
        project_id=project_id,
        is_guest=role != Role.MEMBER,
        revision=Revision(*counts) if counts is not None else None,
    )
