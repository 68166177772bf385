"""Background work: locks that end with their holder, tasks after a commit, retries.

What is to be done is a row. A task makes it sooner, and a periodic sweep finds the rest.
"""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from functools import wraps
from typing import ParamSpec, TypeVar
from uuid import UUID

import psycopg
from celery import current_app
from django.conf import settings
from django.db import DatabaseError, IntegrityError, OperationalError, connection, transaction

from routing.clients.quick_redis import quick_redis
from teams.errors import ConflictError

# The server notices within half a minute that the machine of a holder has vanished.
_HELD_LONG = """
SET LOCAL idle_in_transaction_session_timeout = 0;
SET LOCAL tcp_keepalives_idle = 15;
SET LOCAL tcp_keepalives_interval = 5;
SET LOCAL tcp_keepalives_count = 3
"""
# After so long a place in the queue counts as lost.
_PLACE_SECONDS = 60
ATTEMPTS = 4
# Up to so many seconds, times the attempts so far, so that two writers do not collide again.
_PAUSE_SECONDS = 0.05
_TURNED_AWAY = (psycopg.errors.DeadlockDetected, psycopg.errors.SerializationFailure)

P = ParamSpec("P")
T = TypeVar("T")
logger = logging.getLogger(__name__)


# -- locks -----------------------------------------------------------------------------------


@contextmanager
def exclusively(name: str) -> Iterator[bool]:
    """Yields whether the block holds the lock of that name; False where another one does.

    The lock belongs to a connection outside the pool, so PostgreSQL releases it when the process
    dies, and a model can be waited for while it is held. Where that connection alone is lost,
    another process may begin the same work: what is written must check, in its own transaction,
    that the work is still where this block found it.
    """
    with connection.wrap_database_errors:
        holder = psycopg.connect(**connection.get_connection_params())
    try:
        with connection.wrap_database_errors:
            # A lock of the transaction: a pooler lends a connection no longer than that.
            holder.execute(_HELD_LONG)
            row = holder.execute(
                "SELECT pg_try_advisory_xact_lock(hashtextextended(%s, 0))", [name]
            ).fetchone()
        yield bool(row and row[0])
    finally:
        # Closing does not wait for the server: without this the next block may find the lock held.
        with suppress(psycopg.Error):
            holder.rollback()
        holder.close()


# -- tasks -----------------------------------------------------------------------------------


def send_after_commit(task: str, *ids: UUID, gather_seconds: int | None = None) -> None:
    """Sends a task once the transaction commits, unless the same one is in the queue.

    So each team, or run, has one place there until its task calls `leave_queue`. A task with
    `gather_seconds` begins after that time and covers all that is sent until then. A sweep finds
    what is not sent or gets lost.
    """

    def send() -> None:
        seconds = gather_seconds or _PLACE_SECONDS
        is_new = quick_redis().ask(
            lambda client: client.set(_place(task, ids), 1, nx=True, ex=seconds)
        )
        if not is_new:
            return
        try:
            current_app.send_task(task, args=[str(each) for each in ids], countdown=gather_seconds)
        except Exception:
            # The broker's client raises many kinds; the row is there, so nothing is lost.
            logger.warning("Task %s was not sent: the broker is away.", task)

    transaction.on_commit(send)


def leave_queue(task: str, *ids: UUID) -> None:
    """Gives up the task's place in the queue, as a worker has taken it."""
    quick_redis().ask(lambda client: client.delete(_place(task, ids)))


def _place(task: str, ids: tuple[UUID, ...]) -> str:
    return ":".join([settings.REDIS_PREFIX, "queued", task, *map(str, ids)])


def pause_after(attempts: int) -> timedelta:
    """Returns the pause after so many failures in a row; it doubles up to JOB_PAUSE_SECONDS."""
    return timedelta(seconds=min(2 ** min(attempts, 20), settings.JOB_PAUSE_SECONDS))


def sum_over_teams(team_ids: Iterable[UUID], work: Callable[[UUID], int]) -> int:
    """Runs the work for each team, in random order, and returns the sum of its results.

    The first error is raised after all teams had their turn, so that none holds up the others.
    """
    teams, done, failed = list(team_ids), 0, list[Exception]()
    random.shuffle(teams)  # so that the time does not always run out for the same one
    for team_id in teams:
        try:
            done += work(team_id)
        except Exception as error:
            logger.warning("The work for team %s failed: %s", team_id, error)
            failed.append(error)
    if failed:
        raise failed[0]
    return done


# -- retries ---------------------------------------------------------------------------------


def was_turned_away(error: OperationalError) -> bool:
    """Returns whether the transaction ended because of another one (deadlock, conflict)."""
    return isinstance(error.__cause__, _TURNED_AWAY)


def retried(service: Callable[P, T]) -> Callable[P, T]:
    """Runs a service up to 4 times while PostgreSQL turns its transaction away.

    The service must open its transactions itself. Inside a caller's transaction it runs once:
    that one is lost with it, and only who opened it can run it again.
    """

    @wraps(service)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        attempts = 1 if connection.in_atomic_block else ATTEMPTS
        return _run(lambda: service(*args, **kwargs), attempts, OperationalError)

    return run


def run_write(transaction: Callable[[], T]) -> T:
    """Runs a transaction that stores memories, up to 4 times while it collides with others.

    Raises ConflictError when others keep storing the same facts in between.
    """
    try:
        # Where another writer stored the same fact first, the next look finds it as a duplicate.
        return _run(transaction, ATTEMPTS, OperationalError, IntegrityError)
    except IntegrityError as error:
        raise ConflictError(
            "Other writers store the same memories at this moment; send it again."
        ) from error


def _run(transaction: Callable[[], T], attempts: int, *errors: type[DatabaseError]) -> T:
    for attempt in range(1, attempts):
        try:
            return transaction()
        except errors as error:
            if isinstance(error, OperationalError) and not was_turned_away(error):
                raise
        time.sleep(random.uniform(0, attempt * _PAUSE_SECONDS))  # noqa: S311 - no secret
    return transaction()
