"""Lets a process compute a few reads at a time; the others wait in a queue.

Threads of one process share one interpreter, and with PostgreSQL on the same machine its
processors too: reads that all run at once only delay each other. Figures:
docs/decisions/0005-search-on-postgresql.md.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache

from django.conf import settings

# A read that waited so long goes on beside the others.
PATIENCE_SECONDS = 0.25


class ReadQueue:
    """At most `at_once` blocks at a time; nobody waits longer than `patience` seconds."""

    def __init__(self, at_once: int, *, patience: float = PATIENCE_SECONDS) -> None:
        self._places = threading.Semaphore(at_once)
        self._patience = patience

    @contextmanager
    def place(self) -> Iterator[bool]:
        """Hold a place in the block; false where it did not come in time."""
        has_place = self._places.acquire(timeout=self._patience)
        try:
            yield has_place
        finally:
            if has_place:
                self._places.release()


@cache
def read_queue() -> ReadQueue | None:
    """The queue of this process; None where READS_AT_ONCE is 0."""
    return ReadQueue(settings.READS_AT_ONCE) if settings.READS_AT_ONCE else None


def queued_read() -> AbstractContextManager[object]:
    """Search and pack in the block when a place is free; at once where there is no queue."""
    queue = read_queue()
    return queue.place() if queue is not None else nullcontext()
