"""Counts of changes to a team's memories and messages, as a reader's transaction sees them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
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
    """Counts of the transactions that changed the team's memories, and its messages."""

    memories: int
    messages: int


def team_revision(*, team_id: UUID) -> Revision | None:
    """Returns the team's revision, None in a transaction that has written; call it in scope.

    Whatever the transaction reads afterwards is at least as new.
    """
    rows = fetch_planned(REVISION, {"team": team_id})
    return Revision(*rows[0][0]) if rows else None


# What is set comes back as the team that is asked for, so that it is set before a row is looked at.
# One statement for the primary and for a replica of it. The log's position at a replica is what it
# has replayed, and its time that of the last commit among that, by the primary's clock.
_STATE = """
WITH scope AS MATERIALIZED (
    SELECT set_config('palimpsest.team_ids', $1, true)::uuid AS team_id
)
SELECT found.revision, is_replica,
    CASE WHEN is_replica THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END::text,
    CASE WHEN is_replica THEN pg_last_xact_replay_timestamp() ELSE now() END
FROM pg_is_in_recovery() AS is_replica, scope CROSS JOIN LATERAL (REVISION) AS found (revision)
""".replace("REVISION", REVISION.replace("%(team)s", "scope.team_id"))


@dataclass(frozen=True, slots=True)
class ServerState:
    """A server's revision of a team, position in PostgreSQL's log, and time.

    `as_of` of a replica is when the last commit that it replayed was made, None before the first.
    """

    revision: Revision
    is_replica: bool
    position: str
    as_of: datetime | None

    def has_replayed(self, primary: ServerState) -> bool:
        """Returns whether this replica holds what the primary held then, and follows it still.

        One that is DATABASE_REPLICA_LAG_SECONDS late or more may have lost its primary.
        """
        if (
            self.revision.memories < primary.revision.memories
            or self.revision.messages < primary.revision.messages
        ):
            return False
        if self.position == primary.position:
            return True
        most = timedelta(seconds=settings.DATABASE_REPLICA_LAG_SECONDS)
        return (
            self.as_of is not None
            and primary.as_of is not None
            and primary.as_of - self.as_of < most
        )


def server_state(*, team_id: UUID) -> ServerState:
    """Returns the state of the connection's server for the team.

    In a transaction of its own, or in one of the team's scope that has not written: whatever that
    reads afterwards is at least as new as the revision.
    """
    ((revision, is_replica, position, as_of),) = run_prepared(_STATE, [str(team_id)])
    return ServerState(Revision(*revision), is_replica, position, as_of)


def committed_revision(*, team_id: UUID) -> Revision | None:
    """Returns the team's revision in a transaction of its own; None inside another one.

    For a caller that reads nothing else and would otherwise begin a scope for it.
    """
    return None if connection.in_atomic_block else server_state(team_id=team_id).revision
