"""Snapshots to read at.

A replica that has what its team last wrote comes first, then the primary
(docs/decisions/0067-reads-at-replicas.md).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TypeVar, cast

from django.db import Error, connection
from prometheus_client import Counter
from psycopg.errors import QueryCanceled

from memory.domain.audience import Viewer
from memory.selectors.revisions import (
    Revision,
    known_primary,
    primary_state,
    server_state,
    team_revision,
)
from teams.prepared import Reader
from teams.replicas import reading_from, replicas
from teams.tenancy import team_scope

T = TypeVar("T")
READS = Counter(
    "palimpsest_replica_reads",
    "Retrievals where replicas are set, by outcome: read at a replica, or at the primary because"
    " the replica was behind, promoted, failed or down.",
    ["outcome"],
    registry=None,
)


def at_snapshot(read: Callable[[Revision | None], T], *, viewer: Viewer) -> T:
    """Returns what `read` gives at a replica that is up to date, else at the primary.

    It gets the team's revision in its transaction, may run twice, and must only read.
    """
    if replicas() and not connection.in_atomic_block:
        outcome = "down"
        for name in replicas().in_turn():
            # What was acknowledged before somebody began to ask is in it.
            primary = primary_state(team_id=viewer.team_id)
            try:
                with reading_from(name), _scope(viewer):
                    state = server_state(team_id=viewer.team_id)
                    replicas().take_back(name)
                    is_current = state.is_replica and state.has_replayed(primary)
                    found = read(state.revision) if is_current else None
            except Error as error:
                outcome = _outcome(name, error)
                continue
            if is_current:
                READS.labels("read").inc()
                return cast(T, found)
            outcome = "behind" if state.is_replica else "promoted"
        READS.labels(outcome).inc()
    known = known_primary(team_id=viewer.team_id)
    with _scope(viewer):
        return read(known.revision if known else team_revision(team_id=viewer.team_id))


def _outcome(name: str, error: Error) -> str:
    """Returns how a read at a replica failed; a replica that is down is left out for a while."""
    if _is_cancelled(error):
        raise error  # It would take as long elsewhere.
    if getattr(error.__cause__, "sqlstate", None):
        return "failed"
    replicas().leave_out(name)
    return "down"


def _is_cancelled(error: Error) -> bool:
    return getattr(error.__cause__, "sqlstate", None) == QueryCanceled.sqlstate


def _scope(viewer: Viewer) -> AbstractContextManager[None]:
    seen = viewer.end_user_id is not None or viewer.names_nobody
    return team_scope(
        team_ids=[viewer.team_id],
        actor=viewer.actor,
        is_planned_once=True,
        reader=Reader(viewer.agent_id, viewer.end_user_id) if seen else None,
    )
