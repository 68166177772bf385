"""The team, actor and reason of a transaction, as PostgreSQL sees them.

Row-level security shows only rows of the teams in `palimpsest.team_ids`; the log's trigger reads
`palimpsest.actor`, `palimpsest.reason` and `palimpsest.conversation_id`. All four are local to
the transaction, so nothing of one request can reach the next one on the same connection.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from uuid import UUID

from django.db import connection, transaction

from teams.prepared import run_prepared


@dataclass(frozen=True, slots=True)
class TeamScope:
    """Which teams a transaction may see, and who acts in it and why."""

    team_ids: tuple[UUID, ...] = ()
    actor: str = ""
    reason: str = ""
    conversation_id: UUID | None = None


_NOTHING = TeamScope()
_current: ContextVar[TeamScope] = ContextVar("team_scope", default=_NOTHING)
_at_the_end: ContextVar[Callable[[], None] | None] = ContextVar("before_commit", default=None)

_SET = (
    "SELECT set_config('palimpsest.team_ids', $1, true), set_config('palimpsest.actor', $2, true),"
    " set_config('palimpsest.reason', $3, true),"
    " set_config('palimpsest.conversation_id', $4, true)"
)


def current_scope() -> TeamScope:
    """The scope in force; each `team_scope` makes one of its own, to be told apart by identity."""
    return _current.get()


def _apply(scope: TeamScope) -> None:
    run_prepared(
        _SET,
        [
            ",".join(map(str, scope.team_ids)),
            scope.actor,
            scope.reason,
            str(scope.conversation_id or ""),
        ],
    )


@contextmanager
def team_scope(
    *,
    team_ids: Iterable[UUID],
    actor: str,
    reason: str = "",
    conversation_id: UUID | None = None,
) -> Iterator[None]:
    """Run one transaction that sees the rows of `team_ids` and no others.

    A scope inside another one replaces it until it ends. `actor` and `reason` stand in the log
    row of every memory the transaction changes.
    """
    scope = TeamScope(tuple(team_ids), actor, reason, conversation_id)
    outer = _current.get()
    # The settings end with the transaction; only inside a longer one must they be put back.
    nested = connection.in_atomic_block
    token = _current.set(scope)
    try:
        with transaction.atomic():
            _apply(scope)
            yield
            if nested and not connection.needs_rollback:
                _apply(outer)
            if not nested and (last := _at_the_end.get()) is not None:
                last()
    finally:
        _current.reset(token)


@contextmanager
def before_commit(act: Callable[[], None]) -> Iterator[None]:
    """Let every transaction of a team's scope that ends well in the block run `act` at its end.

    An error of `act` undoes that transaction.
    """
    token = _at_the_end.set(act)
    try:
        yield
    finally:
        _at_the_end.reset(token)
