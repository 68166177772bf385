"""Where a retrieval reads: at a replica that has what its team last wrote, else at the primary.

Why it is decided by the team's revision: docs/decisions/0067-reads-at-replicas.md.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TypeVar

from django.db import Error, connection
from prometheus_client import Counter
from psycopg.errors import QueryCanceled

from memory.domain.viewer import Viewer
from memory.selectors.revisions import Revision, server_state, team_revision
from teams.replicas import reading_from, replicas
from teams.scope import Reader
from teams.tenancy import team_scope

_T = TypeVar("_T")

READS = Counter(
    "palimpsest_replica_reads",
    "Retrievals where replicas are set, by outcome: read at a replica, or at the primary because"
    " the replica was behind, promoted, failed or down.",
    ["outcome"],
    registry=None,
)


def read_in_scope(*, viewer: Viewer, read: Callable[[Revision | None], _T]) -> _T:
    """What `read` finds in a transaction of the viewer's team.

    `read` gets the team's revision in that transaction. It may run twice, for whatever a replica
    fails at is read at the primary; so it only reads.
    """
    if not replicas() or connection.in_atomic_block:
        return _read_at_primary(viewer, read)
    primary, outcome = None, "down"
    for name in replicas().in_turn():
        # What was acknowledged before somebody began to ask is in it.
        primary = primary or server_state(team_id=viewer.team_id)
        try:
            with reading_from(name), _scope(viewer):
                state = server_state(team_id=viewer.team_id)
                replicas().take_back(name)
                if state.is_replica and state.has_replayed(primary):
                    found = read(state.revision)
                    READS.labels("read").inc()
                    return found
                outcome = "behind" if state.is_replica else "promoted"
        except Error as error:
            sqlstate = getattr(error.__cause__, "sqlstate", None)
            if sqlstate == QueryCanceled.sqlstate:
                raise  # It would take as long elsewhere.
            outcome = "failed" if sqlstate else "down"
            if outcome == "down":
                replicas().leave_out(name)
    READS.labels(outcome).inc()
    return _read_at_primary(viewer, read)


def _read_at_primary(viewer: Viewer, read: Callable[[Revision | None], _T]) -> _T:
    with _scope(viewer):
        return read(team_revision(team_id=viewer.team_id))


def _scope(viewer: Viewer) -> AbstractContextManager[None]:
    seen = viewer.end_user_id is not None or viewer.names_nobody
    return team_scope(
        team_ids=[viewer.team_id],
        actor=viewer.actor,
        is_planned_once=True,
        reader=Reader(viewer.agent_id, viewer.end_user_id) if seen else None,
    )
