"""PostgreSQL's replicas: the choice of one, reading from it, and connections that give up soon."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

import psycopg
from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connections

# For so long a replica that gave no answer is not asked again.
LEFT_OUT_SECONDS = 10.0


class Replicas:
    """The replicas by their names in DATABASES; threads share it.

    One that was left out is tried by a single read when its time is over: should it still give no
    answer, nobody else waits for it.
    """

    def __init__(
        self, names: Sequence[str], *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._names = tuple(names)
        self._clock = clock
        self._turn = itertools.count()
        self._left_out: dict[str, float] = {}
        self._lock = Lock()

    def __bool__(self) -> bool:
        return bool(self._names)

    def in_turn(self) -> Iterator[str]:
        """Returns the replicas that may be asked, beginning with another one each time."""
        first = next(self._turn)
        for place in range(len(self._names)):
            name = self._names[(first + place) % len(self._names)]
            with self._lock:
                until = self._left_out.get(name)
                if until is not None and self._clock() < until:
                    continue
                if until is not None:
                    self._left_out[name] = self._clock() + LEFT_OUT_SECONDS
            yield name

    def leave_out(self, name: str) -> None:
        """Ask it no more for LEFT_OUT_SECONDS."""
        with self._lock:
            self._left_out[name] = self._clock() + LEFT_OUT_SECONDS

    def take_back(self, name: str) -> None:
        """Ask it like the others again: it has answered."""
        if name in self._left_out:
            with self._lock:
                self._left_out.pop(name, None)


@cache
def replicas() -> Replicas:
    """The replicas that the settings name, with what this process knows of them."""
    return Replicas(settings.DATABASE_REPLICAS)


@contextmanager
def reading_from(name: str) -> Iterator[None]:
    """Let everything in the block that would ask the primary ask the replica of that name.

    Not inside a transaction. It holds for this thread; rows that are loaded in the block belong to
    the primary, so that what they load later comes from there. A write fails.
    """
    primary, replica = connections[DEFAULT_DB_ALIAS], connections[name]
    connections[DEFAULT_DB_ALIAS] = replica
    try:
        yield
    finally:
        connections[DEFAULT_DB_ALIAS] = primary
        # Back into its pool.
        replica.close()


class ImpatientConnection(psycopg.Connection[Any]):
    """A connection that breaks when its server is silent for longer than a statement may run.

    A server that hangs, with its sockets open, would hold its readers for ever.
    """

    @property
    def patience_seconds(self) -> float:
        """A little more than a statement of a read may take before the server ends it."""
        return settings.READ_STATEMENT_SECONDS + 1.0

    def wait(self, gen: Any, *args: Any, **kwargs: Any) -> Any:  # Any: as the base class has it
        """Raises OperationalError when it takes too long."""
        return super().wait(self._within(gen), *args, **kwargs)

    def _within(self, gen: Any) -> Generator[Any, Any, Any]:
        deadline = time.monotonic() + self.patience_seconds
        try:
            wanted = next(gen)
            while True:
                ready = yield wanted
                if not ready and time.monotonic() > deadline:
                    self.pgconn.finish()
                    raise psycopg.OperationalError("the replica gives no answer")
                wanted = gen.send(ready)
        except StopIteration as end:
            return end.value
