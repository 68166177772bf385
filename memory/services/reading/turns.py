"""The reads that a process makes answers for, so many at a time, in the order in which they came.

A read computes nearly all the time, and threads of one process compute one after the other anyhow.
Where all are at it at once, each is put off again and again for the others, and the last of eight
is answered half as long again after it came as the middle one. In turns none is: it takes as long,
but it takes that for each.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import cache

from django.conf import settings

# Who waits for longer goes on beside the others: something holds them up that is no computing.
PATIENCE_SECONDS = 0.25


class Turns:
    """Lets so many in at a time, the others in their order; thread-safe.

    Nobody waits longer than `patience` seconds.
    """

    def __init__(self, at_once: int, *, patience: float = PATIENCE_SECONDS) -> None:
        self._free = at_once
        self.patience = patience
        self._waiting: deque[threading.Lock] = deque()
        self._changing = threading.Lock()

    @property
    def waiting(self) -> int:
        """How many wait for their turn."""
        return len(self._waiting)

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Wait for the turn, and give it to the next one at the end."""
        has_turn = self._wait()
        try:
            yield
        finally:
            if has_turn:
                self._give()

    def _wait(self) -> bool:
        """Whether the turn came; without it the caller goes on as well."""
        with self._changing:
            if self._free > 0:
                self._free -= 1
                return True
            called = threading.Lock()
            called.acquire()
            self._waiting.append(called)
        try:
            has_come = called.acquire(timeout=self.patience)
        except BaseException:
            if not self._leave(called):
                self._give()
            raise
        return has_come or not self._leave(called)

    def _leave(self, called: threading.Lock) -> bool:
        """Whether it waited still; its turn may have come in this very moment."""
        with self._changing:
            if called not in self._waiting:
                return False
            self._waiting.remove(called)
            return True

    def _give(self) -> None:
        with self._changing:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._free += 1


@cache
def reads() -> Turns | None:
    """Those of the process's reads; None where all may read at once."""
    return Turns(settings.READS_AT_ONCE) if settings.READS_AT_ONCE else None


@contextmanager
def in_turn() -> Iterator[None]:
    """Search and pack in the block, once it is the caller's turn."""
    turns = reads()
    with turns.taken() if turns is not None else nullcontext():
        yield
