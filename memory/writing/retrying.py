"""Transactions that PostgreSQL ended because another one held what they wanted are run again."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

import psycopg
from django.db import DatabaseError, IntegrityError, OperationalError, connection

from teams.errors import ConflictError

P = ParamSpec("P")
T = TypeVar("T")

ATTEMPTS = 4
# Up to so many seconds, times the attempts so far: who met once should not meet again at once.
_PAUSE_SECONDS = 0.05
_TURNED_AWAY = (psycopg.errors.DeadlockDetected, psycopg.errors.SerializationFailure)


def was_turned_away(error: OperationalError) -> bool:
    """Whether the transaction was ended whole only because of another one (deadlock, conflict)."""
    return isinstance(error.__cause__, _TURNED_AWAY)


def retried(service: Callable[P, T]) -> Callable[P, T]:
    """Run a service up to 4 times while PostgreSQL turns its transaction away.

    The service must open its transactions itself. Inside a caller's transaction it runs once:
    that one is lost with it, and only who opened it can run it again.
    """

    @wraps(service)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        attempts = 1 if connection.in_atomic_block else ATTEMPTS
        return _run(lambda: service(*args, **kwargs), attempts, OperationalError)

    return run


def run_write(transaction: Callable[[], T]) -> T:
    """Run a transaction that stores memories, up to 4 times while other writers are in its way.

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
