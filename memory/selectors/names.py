"""Whom the names in a request mean, and at which revision of their team, in one statement."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS, connection

from memory.selectors.prepared import fetch_planned
from memory.selectors.revisions import REVISION, Revision
from teams.models import Agent
from teams.prepared import run_prepared
from teams.tenancy import current_scope, team_scope

_AGENT = [field.attname for field in Agent._meta.concrete_fields]
_STATEMENT = """
SELECT u.id, p.id, {columns}
FROM (SELECT %(team)s::uuid AS id) AS t
LEFT JOIN teams_agent a ON a.team_id = t.id AND a.slug = %(agent)s::text
LEFT JOIN teams_enduser u ON u.team_id = t.id AND u.external_id = %(user)s::text
LEFT JOIN teams_project p ON p.team_id = t.id AND p.slug = %(project)s::text
""".format(columns=", ".join(f"a.{field.column}" for field in Agent._meta.concrete_fields))

# As above, with the scope of the team set by the statement itself: what is set comes back as the
# team that is asked for, and OFFSET 0 keeps each table from being looked at before.
_ALONE = """
WITH scope AS MATERIALIZED (
    SELECT set_config('palimpsest.team_ids', $1, true)::uuid AS team_id
)
SELECT r.revision, u.id, p.id, COLUMNS
FROM scope
LEFT JOIN LATERAL (REVISION) AS r (revision) ON true
LEFT JOIN LATERAL (
    SELECT * FROM teams_agent WHERE team_id = scope.team_id AND slug = $2::text OFFSET 0
) AS a ON true
LEFT JOIN LATERAL (
    SELECT id FROM teams_enduser WHERE team_id = scope.team_id AND external_id = $3::text OFFSET 0
) AS u ON true
LEFT JOIN LATERAL (
    SELECT id FROM teams_project WHERE team_id = scope.team_id AND slug = $4::text OFFSET 0
) AS p ON true
""".replace(
    "COLUMNS", ", ".join(f"a.{field.column}" for field in Agent._meta.concrete_fields)
).replace("REVISION", REVISION.replace("%(team)s", "scope.team_id"))


@dataclass(frozen=True, slots=True)
class Named:
    """What stands behind the names of a request; None for what is unknown or was not named.

    `revision` is the team's as of then, None inside a transaction.
    """

    agent: Agent | None
    end_user_id: UUID | None
    project_id: UUID | None
    revision: Revision | None = None


def names_of(
    *, team_id: UUID, agent: str | None, user: str | None = None, project: str | None = None
) -> Named:
    """The team's agent by its slug, end user by its external id and project by its slug.

    Call it in the team's scope or in none: outside of any transaction it is one statement with a
    scope of its own.
    """
    if agent is None and user is None and project is None:
        return Named(None, None, None)
    revision = None
    if not connection.in_atomic_block:
        ((counts, *found),) = run_prepared(_ALONE, [str(team_id), agent, user, project])
        revision = Revision(*counts) if counts is not None else None
    else:
        given = {"team": team_id, "agent": agent, "user": user, "project": project}
        is_seen = team_id in current_scope().team_ids
        with nullcontext() if is_seen else team_scope(team_ids=[team_id], actor="names"):
            ((*found,),) = fetch_planned(_STATEMENT, given)
    end_user_id, project_id, *values = found
    known = Agent.from_db(DEFAULT_DB_ALIAS, _AGENT, values) if values[0] is not None else None
    return Named(known, end_user_id, project_id, revision)
