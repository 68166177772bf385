"""The team, actor and reason of a transaction, as PostgreSQL sees them.

Row-level security shows only rows of the teams in `palimpsest.team_ids`; the log's trigger reads
`palimpsest.actor`, `palimpsest.reason` and `palimpsest.conversation_id`. All four are local to
the transaction, so nothing of one request can reach the next one on the same connection.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from uuid import UUID

from django.db import connection, transaction

from teams.beginning import begin
from teams.prepared import run_prepared


@dataclass(frozen=True, slots=True)
class TeamScope:
    """Which teams a transaction may see, and who acts in it and why."""

    team_ids: tuple[UUID, ...] = ()
    actor: str = ""
    reason: str = ""
    conversation_id: UUID | None = None
    is_planned_once: bool = False


_NOTHING = TeamScope()
_current: ContextVar[TeamScope] = ContextVar("team_scope", default=_NOTHING)
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


def current_scope() -> TeamScope:
    """The scope in force; each `team_scope` makes one of its own, to be told apart by identity."""
    return _current.get()


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

    With `is_planned_once` prepared statements are planned once for all parameters, by one process,
    and no table is read from end to end. Without `is_flushed` the commit does not wait for the
    disk: a crash of PostgreSQL may undo it, though never without every later commit, so that nobody
    may be told of it before one that waits. Inside another scope neither means anything.
    `shared_lock` is the number of an advisory lock that the transaction shares with others, from
    its beginning.
    """
    outer = _current.get()
    # The settings end with the transaction; only inside a longer one must they be put back.
    nested = connection.in_atomic_block
    scope = TeamScope(
        tuple(team_ids), actor, reason, conversation_id, is_planned_once and not nested
    )
    token = _current.set(scope)
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
        _current.reset(token)


def wait_for_disk() -> None:
    """Have the transaction under way be flushed when it commits, though its scope said otherwise.

    For what somebody else may be told of as soon as it is committed.
    """
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL synchronous_commit TO DEFAULT")


@contextmanager
def before_commit(act: Callable[[], None] | None) -> Iterator[None]:
    """Let every transaction of a team's scope that ends well in the block run `act` at its end.

    An error of `act` undoes that transaction. It takes the place of what an outer block asks for,
    and so does None: then they end by themselves, whatever the request wants of its own.
    """
    token = _at_the_end.set(act)
    try:
        yield
    finally:
        _at_the_end.reset(token)
