"""Snapshots to read at.

A replica that has what its team last wrote comes first, then the primary
(docs/decisions/0067-reads-at-replicas.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack
from types import TracebackType

from django.db import Error, connection
from prometheus_client import Counter
from psycopg.errors import QueryCanceled

from memory.domain.audience import Viewer
from memory.selectors.revisions import Revision, server_state, team_revision
from teams.prepared import Reader
from teams.replicas import reading_from, replicas
from teams.tenancy import team_scope

READS = Counter(
    "palimpsest_replica_reads",
    "Retrievals where replicas are set, by outcome: read at a replica, or at the primary because"
    " the replica was behind, promoted, failed or down.",
    ["outcome"],
    registry=None,
)


class Snapshot:
    """A transaction of the viewer's team to read in; `revision` is the team's in it.

    At a replica an error of the database ends the block and is kept as `error`.
    """

    def __init__(self, scope: ExitStack, revision: Revision | None, *, is_replica: bool) -> None:
        self._scope = scope
        self._revision = revision
        self._is_replica = is_replica
        self.error: Error | None = None

    def __enter__(self) -> Revision | None:
        return self._revision

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        self._scope.__exit__(kind, error, trace)
        if not self._is_replica or not isinstance(error, Error) or _is_cancelled(error):
            return False
        self.error = error
        return True


def snapshots(*, viewer: Viewer) -> Iterator[Snapshot]:
    """Yields places to read at until one succeeded: replicas that are up to date, then the primary.

    So the block may run twice, and must only read.
    """
    if replicas() and not connection.in_atomic_block:
        primary, outcome = None, "down"
        for name in replicas().in_turn():
            # What was acknowledged before somebody began to ask is in it.
            primary = primary or server_state(team_id=viewer.team_id)
            scope = ExitStack()
            try:
                scope.enter_context(reading_from(name))
                scope.enter_context(_scope(viewer))
                state = server_state(team_id=viewer.team_id)
            except Error as error:
                scope.close()
                outcome = _outcome(name, error)
                continue
            replicas().take_back(name)
            if not (state.is_replica and state.has_replayed(primary)):
                scope.close()
                outcome = "behind" if state.is_replica else "promoted"
                continue
            snapshot = Snapshot(scope, state.revision, is_replica=True)
            yield snapshot
            if snapshot.error is None:
                READS.labels("read").inc()
                return
            outcome = _outcome(name, snapshot.error)
        READS.labels(outcome).inc()
    scope = ExitStack()
    scope.enter_context(_scope(viewer))
    try:
        revision = team_revision(team_id=viewer.team_id)
    except BaseException as error:
        scope.__exit__(type(error), error, error.__traceback__)
        raise
    yield Snapshot(scope, revision, is_replica=False)


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
