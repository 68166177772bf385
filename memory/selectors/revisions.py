"""Counts of changes to a team's memories and messages, as a reader's transaction sees them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db import connection

from teams.prepared import fetch_planned, run_prepared
from teams.tenancy import team_scope

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


# One expression for the primary and for a replica of it. The log's position at a replica is what it
# has replayed, and its time that of the last commit among that, by the primary's clock.
SERVER = """is_replica,
    CASE WHEN is_replica THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END::text,
    CASE WHEN is_replica THEN pg_last_xact_replay_timestamp() ELSE now() END"""
# What is set comes back as the team that is asked for, so that it is set before a row is looked at.
_STATE = """
WITH scope AS MATERIALIZED (
    SELECT set_config('palimpsest.team_ids', $1, true)::uuid AS team_id
)
SELECT found.revision, {server}
FROM pg_is_in_recovery() AS is_replica, scope CROSS JOIN LATERAL ({revision}) AS found (revision)
""".format(server=SERVER, revision=REVISION.replace("%(team)s", "scope.team_id"))


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
    if settings.DATABASE_DISTRIBUTED:
        # Nothing that set_config sets reaches the team's server. There are no replicas beside it.
        with team_scope(team_ids=[team_id], actor="revision"):
            return ServerState(team_revision(team_id=team_id) or Revision(0, 0), False, "", None)
    ((revision, is_replica, position, as_of),) = run_prepared(_STATE, [str(team_id)])
    return ServerState(Revision(*revision), is_replica, position, as_of)


# The states of the primary that the request has found, by team.
_found: ContextVar[dict[UUID, ServerState] | None] = ContextVar("states_found", default=None)


@contextmanager
def states_found_once() -> Iterator[None]:
    """Lets the block find each team's state at the primary once: for requests that only read.

    What was acknowledged before the request began is in it.
    """
    token = _found.set({})
    try:
        yield
    finally:
        _found.reset(token)


def note_primary(*, team_id: UUID, state: ServerState) -> ServerState:
    """Notes a state that the primary gave, for the rest of the request, and returns it."""
    if (found := _found.get()) is not None:
        found.setdefault(team_id, state)
    return state


def known_primary(*, team_id: UUID) -> ServerState | None:
    """Returns the state of the primary that this request has found; None in a transaction."""
    found = None if connection.in_atomic_block else _found.get()
    return found.get(team_id) if found else None


def primary_state(*, team_id: UUID) -> ServerState:
    """Returns the state of the primary, in this request or now; call it in no transaction."""
    known = known_primary(team_id=team_id)
    return known or note_primary(team_id=team_id, state=server_state(team_id=team_id))


def committed_revision(*, team_id: UUID) -> Revision | None:
    """Returns the team's revision at the primary, in this request or now; None in a transaction."""
    return None if connection.in_atomic_block else primary_state(team_id=team_id).revision
