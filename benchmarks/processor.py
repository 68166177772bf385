"""Processor time of this process and of its sessions of the database, if that is on this machine.

What others do at the same time lengthens the wall clock much and processor time little.
"""

from __future__ import annotations

import time
from collections.abc import Iterable

import psutil  # type: ignore[import-untyped]
from django.db import connection


def session() -> int:
    """The process of PostgreSQL that serves this thread's connection."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        (pid,) = cursor.fetchone()
    return int(pid)


def seconds(sessions: Iterable[int]) -> float:
    """Processor seconds so far, of this process and those sessions that this machine knows."""
    return time.process_time() + sum(map(_of_session, set(sessions)))


def _of_session(pid: int) -> float:
    try:
        process = psutil.Process(pid)
        if "postgres" not in process.name():
            return 0.0
        times = process.cpu_times()
    except psutil.Error:
        return 0.0
    return float(times.user + times.system)
