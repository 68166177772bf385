"""How often a team's memories and messages changed, as a reader's transaction sees it."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.db import connection

from teams.prepared import fetch_planned, run_prepared

# Nothing in a transaction that wrote: what it sees is not what others see, and its own changes
# move the revision only with its commit.
REVISION = """
SELECT ARRAY[coalesce(sum(memories), 0)::bigint, coalesce(sum(messages), 0)::bigint]
FROM audit_teamrevision WHERE team_id = %(team)s HAVING pg_current_xact_id_if_assigned() IS NULL
"""


@dataclass(frozen=True, slots=True)
class Revision:
    """How many transactions had changed the team's memories, and how many its messages."""

    memories: int
    messages: int


def team_revision(*, team_id: UUID) -> Revision | None:
    """The team's revision, None in a transaction that has written; call it in scope.

    Whatever the transaction reads afterwards is at least as new.
    """
    rows = fetch_planned(REVISION, {"team": team_id})
    return Revision(*rows[0][0]) if rows else None


# What is set comes back as the team that is asked for, so that it is set before a row is looked at.
_ALONE = """
WITH scope AS MATERIALIZED (
    SELECT set_config('palimpsest.team_ids', $1, true)::uuid AS team_id
)
SELECT found.revision FROM scope CROSS JOIN LATERAL (REVISION) AS found (revision)
""".replace("REVISION", REVISION.replace("%(team)s", "scope.team_id"))


def committed_revision(*, team_id: UUID) -> Revision | None:
    """The team's revision in one round trip, in a transaction of its own; None inside another one.

    For a caller that reads nothing else and would otherwise begin a scope for it.
    """
    if connection.in_atomic_block:
        return None
    rows = run_prepared(_ALONE, [str(team_id)])
    return Revision(*rows[0][0]) if rows else None
