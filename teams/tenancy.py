"""The team, actor and reason of a transaction, as PostgreSQL sees them.

Row-level security shows only rows of the teams in `palimpsest.team_ids`; the log's trigger reads
`palimpsest.actor`, `palimpsest.reason` and `palimpsest.conversation_id`. All four are local to
the transaction, so nothing of one request can reach the next one on the same connection.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from uuid import UUID

from django.db import connection, transaction

from teams.beginning import begin
from teams.prepared import run_prepared
from teams.scope import TeamScope, scope_in_force

_at_the_end: ContextVar[Callable[[], None] | None] = ContextVar("before_commit", default=None)

_NAMES = tuple(f"palimpsest.{name}" for name in ("team_ids", "actor", "reason", "conversation_id"))
_SET = (
    "SELECT set_config('palimpsest.team_ids', $1, true), set_config('palimpsest.actor', $2, true),"
    " set_config('palimpsest.reason', $3, true),"
    " set_config('palimpsest.conversation_id', $4, true)"
)
_SHARED = ", pg_advisory_xact_lock_shared($5)"
_UNFLUSHED = {"synchronous_commit": "off"}
_PLANNED_ONCE = {
    "plan_cache_mode": "force_generic_plan",
    "enable_seqscan": "off",
    "max_parallel_workers_per_gather": "0",
}


def _values(scope: TeamScope) -> tuple[str, str, str, str]:
    """Those of `_NAMES`."""
    teams = ",".join(map(str, scope.team_ids))
    return teams, scope.actor, scope.reason, str(scope.conversation_id or "")


def _apply(scope: TeamScope, shared_lock: int | None = None) -> None:
    """Put the scope in force in a transaction under way."""
    if shared_lock is None:
        run_prepared(_SET, _values(scope))
    else:
        run_prepared(_SET + _SHARED, [*_values(scope), shared_lock])


@contextmanager
def team_scope(
    *,
    team_ids: Iterable[UUID],
    actor: str,
    reason: str = "",
    conversation_id: UUID | None = None,
    is_planned_once: bool = False,
    is_flushed: bool = True,
    shared_lock: int | None = None,
) -> Iterator[None]:
    """Run one transaction that sees the rows of `team_ids` and no others.

    A scope inside another one replaces it until it ends. `actor` and `reason` stand in the log
    row of every memory the transaction changes.

    With `is_planned_once` prepared statements use generic plans, without parallel workers or
    sequential scans. Without `is_flushed` the commit does not wait for the disk: a crash of
    PostgreSQL may undo it together with every later commit, so do not report it to anybody before
    a later commit that waits. Inside another scope neither has an effect. `shared_lock` is the
    number of an advisory lock that the transaction holds in shared mode from its beginning.
    """
    outer = scope_in_force.get()
    # The settings end with the transaction; only inside a longer one must they be put back.
    nested = connection.in_atomic_block
    scope = TeamScope(
        tuple(team_ids), actor, reason, conversation_id, is_planned_once and not nested
    )
    token = scope_in_force.set(scope)
    try:
        with transaction.atomic():
            if nested:
                _apply(scope, shared_lock)
            else:
                settings = dict(zip(_NAMES, _values(replace(scope, reason="")), strict=True))
                settings |= _PLANNED_ONCE if is_planned_once else {}
                settings |= {} if is_flushed else _UNFLUSHED
                begin(settings, shared_lock=shared_lock)
                if scope.reason:
                    # What people write has no place in the text of a statement, which is logged.
                    _apply(scope)
            yield
            if nested and not connection.needs_rollback:
                _apply(outer)
            if not nested and (last := _at_the_end.get()) is not None:
                last()
    finally:
        scope_in_force.reset(token)


def wait_for_disk() -> None:
    """Let the current transaction's commit wait for the disk, whatever its scope said.

    For rows that others may rely on as soon as they are committed.
    """
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL synchronous_commit TO DEFAULT")


def hold_lock(name: str) -> None:
    """Hold the advisory lock of that name until the transaction ends; waits for others to end."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [name])


@contextmanager
def before_commit(act: Callable[[], None] | None) -> Iterator[None]:
    """Run `act` at the end of every successful transaction of a team's scope in the block.

    An error in `act` rolls that transaction back. It replaces the `act` of an outer block; None
    runs nothing.
    """
    token = _at_the_end.set(act)
    try:
        yield
    finally:
        _at_the_end.reset(token)
