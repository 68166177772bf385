"""The team, actor and reason of a transaction, as PostgreSQL sees them.

Row-level security shows only rows of the teams in `palimpsest.team_ids`; the log's trigger reads
`palimpsest.actor`, `palimpsest.reason` and `palimpsest.conversation_id`. All four are local to
the transaction, so nothing of one request can reach the next one on the same connection.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

import psycopg
from django.conf import settings as options
from django.db import DEFAULT_DB_ALIAS, connection, connections, transaction
from psycopg import DataError, OperationalError, errors
from psycopg.pq import ConnStatus, Escaping, ExecStatus

from teams.errors import GivenUpError
from teams.prepared import Reader, TeamScope, run_prepared, scope_in_force, set_locally

_statement_limit: ContextVar[float] = ContextVar("statement_limit", default=0.0)
_is_given_up: ContextVar[Callable[[], bool] | None] = ContextVar("is_given_up", default=None)
_reader: ContextVar[Reader | None] = ContextVar("reader", default=None)
_at_the_end: ContextVar[Callable[[], None] | None] = ContextVar("before_commit", default=None)

_GOOD = (ExecStatus.COMMAND_OK, ExecStatus.TUPLES_OK)
_UNFLUSHED = {"synchronous_commit": "off"}
_PLANNED_ONCE = {
    "plan_cache_mode": "force_generic_plan",
    "enable_seqscan": "off",
    "max_parallel_workers_per_gather": "0",
}


_SNAPSHOT = b"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_HOLD_IF_FROZEN = "palimpsest_hold_if_frozen()"
_NO_READER = {"palimpsest.reader": ""}


def _settings(scope: TeamScope) -> dict[str, str]:
    """Returns the PostgreSQL settings of the scope, by name."""
    return {
        "palimpsest.team_ids": ",".join(map(str, scope.team_ids)),
        "palimpsest.actor": scope.actor,
        "palimpsest.reason": scope.reason,
        "palimpsest.conversation_id": str(scope.conversation_id or ""),
        **(scope.reader.settings if scope.reader else _NO_READER),
    }


def broke_off(error: Exception) -> bool:
    """Returns whether a connection broke during an answer: a bare DatabaseError of the driver."""
    return type(error.__cause__) is psycopg.DatabaseError


def _begin(
    settings: Mapping[str, str], *, shared_lock: int | None = None, is_snapshot: bool = False
) -> None:
    """Begin the transaction that Django has announced (`atomic`) with settings local to it.

    The driver would begin it by itself before the first statement, and wait for that. `settings`
    are values by the names of PostgreSQL's settings, which are the program's own; `shared_lock` is
    the number of an advisory lock to share from its beginning. With `is_snapshot` it reads one
    snapshot and writes nothing; else it writes nothing where a team of its scope is frozen. Like
    BEGIN itself it is no statement to who wraps or counts them, and its text, which holds the
    values, may stand in PostgreSQL's log. Raises Django's errors of databases.
    """
    own: Any = connections[DEFAULT_DB_ALIAS]  # Any: what Django leaves untyped
    raw = own.connection.pgconn
    with own.wrap_database_errors:
        quoted = Escaping(raw).escape_literal
        commands = [_SNAPSHOT if is_snapshot else b"BEGIN"]
        for name, value in settings.items():
            if "\0" in value:
                raise DataError(f"{name} cannot hold a null character")
            commands.append(b"SET LOCAL %s TO %s" % (name.encode(), bytes(quoted(value.encode()))))
        if shared_lock is not None:
            commands.append(b"SELECT pg_advisory_xact_lock_shared(%d)" % shared_lock)
        if not is_snapshot:
            commands.append(f"SELECT {_HOLD_IF_FROZEN}".encode())
        # Citus sends on the whole text that a SET LOCAL stands in.
        texts = commands if options.DATABASE_DISTRIBUTED else [b"; ".join(commands)]
        results = [raw.exec_(text) for text in texts]
        result = next((each for each in results if each.status not in _GOOD), results[-1])
        if result.status not in _GOOD:
            error = errors.error_from_result(result)
            if raw.status == ConnStatus.OK or isinstance(error, OperationalError):
                raise error
            # One without a number of its own is that of a connection that broke.
            raise OperationalError(str(error))


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
    reader: Reader | None = None,
    is_snapshot: bool = False,
) -> Iterator[None]:
    """Run one transaction that sees the rows of `team_ids` and no others.

    A scope inside another one replaces it until it ends. `actor` and `reason` stand in the log
    row of every memory the transaction changes.

    With `is_planned_once` prepared statements use generic plans, without parallel workers or
    sequential scans. Without `is_flushed` the commit does not wait for the disk: a crash of
    PostgreSQL may undo it together with every later commit, so do not report it to anybody before
    a later commit that waits. Inside another scope neither has an effect. `shared_lock` is the
    number of an advisory lock that the transaction holds in shared mode from its beginning. With
    a `reader` no row of other people or of other agents' own exists. With `is_snapshot` all that
    the transaction reads is of one moment, and it may not write. Nor may it where one of the teams
    is frozen (teams/services/moves.py): a statement that writes raises InternalError.
    """
    outer = scope_in_force.get()
    reader = reader or _reader.get()
    is_given_up = _is_given_up.get()
    if is_given_up is not None and is_given_up():
        raise GivenUpError("The client has gone.")
    # The settings end with the transaction; only inside a longer one must they be put back.
    nested = connection.in_atomic_block
    may_prepare = options.DATABASE_PREPARE
    if nested:
        reader = reader or outer.reader
    scope = TeamScope(
        tuple(team_ids), actor, reason, conversation_id, is_planned_once and not nested, reader
    )
    token = scope_in_force.set(scope)
    try:
        with transaction.atomic():
            if nested:
                set_locally(_settings(scope), then=_HOLD_IF_FROZEN)
                if shared_lock is not None:
                    run_prepared("SELECT pg_advisory_xact_lock_shared($1)", [shared_lock])
            else:
                settings = _settings(replace(scope, reason=""))
                settings |= _PLANNED_ONCE if is_planned_once and may_prepare else {}
                settings |= {} if is_flushed else _UNFLUSHED
                if limit := _statement_limit.get():
                    settings["statement_timeout"] = str(int(limit * 1000))
                _begin(settings, shared_lock=shared_lock, is_snapshot=is_snapshot)
                if scope.reason:
                    # What people write has no place in the text of a statement, which is logged.
                    set_locally({"palimpsest.reason": scope.reason})
            yield
            if nested and not connection.needs_rollback:
                set_locally(_settings(outer))
            if not nested and (last := _at_the_end.get()) is not None:
                last()
    finally:
        scope_in_force.reset(token)


@contextmanager
def statements_within(
    seconds: float, *, is_given_up: Callable[[], bool] | None = None
) -> Iterator[None]:
    """Let PostgreSQL stop each statement of the block's team scopes after so many seconds.

    It raises OperationalError, and the transaction is lost. It takes no round trip of its own. Once
    `is_given_up` is true, the next team scope raises GivenUpError: for blocks that only read.
    """
    tokens = _statement_limit.set(seconds), _is_given_up.set(is_given_up)
    try:
        yield
    finally:
        _statement_limit.reset(tokens[0])
        _is_given_up.reset(tokens[1])


@contextmanager
def reading_as(reader: Reader | None) -> Iterator[None]:
    """Holds the block's team scopes without a reader of their own to this one; None for none."""
    token = _reader.set(reader)
    try:
        yield
    finally:
        _reader.reset(token)


def wait_for_disk() -> None:
    """Lets the current transaction's commit wait for the disk, whatever its scope said."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL synchronous_commit TO DEFAULT")


def hold_lock(name: str) -> None:
    """Hold the advisory lock of that name until the transaction ends; waits for others to end."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [name])


@contextmanager
def before_commit(act: Callable[[], None] | None) -> Iterator[None]:
    """Runs `act`, or nothing, at the end of every successful team scope in the block."""
    token = _at_the_end.set(act)
    try:
        yield
    finally:
        _at_the_end.reset(token)


def give_back_connection() -> None:
    """Let others have the connection while a model is waited for; nothing inside a transaction."""
    if not connection.in_atomic_block:
        connection.close()


def database_now() -> datetime:
    """The time in PostgreSQL, which all machines share, in and outside of transactions."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        (now,) = cursor.fetchone()
    at: datetime = now
    return at
