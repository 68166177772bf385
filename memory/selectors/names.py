"""Whom the names in a request mean, in one statement."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS

from memory.selectors.prepared import fetch_planned
from teams.models import Agent

_AGENT = [field.attname for field in Agent._meta.concrete_fields]
_STATEMENT = """
SELECT u.id, p.id, {columns}
FROM (SELECT %(team)s::uuid AS id) AS t
LEFT JOIN teams_agent a ON a.team_id = t.id AND a.slug = %(agent)s::text
LEFT JOIN teams_enduser u ON u.team_id = t.id AND u.external_id = %(user)s::text
LEFT JOIN teams_project p ON p.team_id = t.id AND p.slug = %(project)s::text
""".format(columns=", ".join(f"a.{field.column}" for field in Agent._meta.concrete_fields))


@dataclass(frozen=True, slots=True)
class Named:
    """What stands behind the names of a request; None for what is unknown or was not named."""

    agent: Agent | None
    end_user_id: UUID | None
    project_id: UUID | None


def names_of(
    *, team_id: UUID, agent: str | None, user: str | None = None, project: str | None = None
) -> Named:
    """The team's agent by its slug, end user by its external id and project by its slug.

    Call it in the team's scope.
    """
    given = {"team": team_id, "agent": agent, "user": user, "project": project}
    ((end_user_id, project_id, *values),) = fetch_planned(_STATEMENT, given)
    known = Agent.from_db(DEFAULT_DB_ALIAS, _AGENT, values) if values[0] is not None else None
    return Named(known, end_user_id, project_id)
