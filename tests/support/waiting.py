"""Waiting for what another thread, process or server does."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TypeVar

from django.db import connection, connections

# Generous: it is the limit of a test that fails, on a machine that has other things to do.
PATIENCE_SECONDS = 60.0


def until(condition: Callable[[], object], *, seconds: float = PATIENCE_SECONDS) -> None:
    """Return once the condition holds, and fail when it does not come."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)


T = TypeVar("T")


def race(runners: int, act: Callable[[int], T]) -> list[T]:
    """Returns the results of `act(0)` to `act(runners - 1)`, begun at once, each in a thread.

    An error in any of them is raised here.
    """
    start = Barrier(runners)

    def run(number: int) -> T:
        start.wait(timeout=30)
        try:
            return act(number)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(runners) as pool:
        return [each.result() for each in [pool.submit(run, n) for n in range(runners)]]


def waits(backend: int) -> bool:
    """Returns whether the connection waits for a lock."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT cardinality(pg_blocking_pids(%s)) > 0", [backend])
        row = cursor.fetchone()
    return bool(row and row[0])
