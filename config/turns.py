"""Whose request a web process serves next: callers take turns, and none takes all the threads."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Hashable
from typing import Generic, TypeVar

T = TypeVar("T")
# Requests that ask whether the process lives; one of them has a thread that no other one gets.
PROBE = "probe"


class Turns(Generic[T]):
    """Requests that wait for one of `places`, by caller; of one caller at most `of_one` are served.

    `most_waiting` requests of one caller wait. One more than `places` is served for `PROBE`.
    """

    def __init__(self, *, places: int, of_one: int, most_waiting: int) -> None:
        self._places, self._of_one, self._most_waiting = places, of_one, most_waiting
        self._waiting: dict[Hashable, deque[T]] = {}
        self._served: Counter[Hashable] = Counter()

    def join(self, caller: Hashable, request: T) -> bool:
        """Let a request wait; False where too many of its caller do."""
        queue = self._waiting.setdefault(caller, deque())
        if len(queue) >= self._most_waiting:
            return False
        queue.append(request)
        return True

    def next(self) -> tuple[Hashable, T] | None:
        """The caller and request to serve now, which has its place until `leave`."""
        is_full = self._served.total() - self._served[PROBE] >= self._places
        for caller, queue in self._waiting.items():
            most = 1 if caller == PROBE else self._of_one
            if self._served[caller] >= most or (is_full and caller != PROBE):
                continue
            request = queue.popleft()
            # The others come first before it is this caller's turn again.
            del self._waiting[caller]
            if queue:
                self._waiting[caller] = queue
            self._served[caller] += 1
            return caller, request
        return None

    def leave(self, caller: Hashable) -> None:
        """Give a place back."""
        self._served[caller] -= 1
        if not self._served[caller]:
            del self._served[caller]

    def waiting(self) -> list[tuple[Hashable, T]]:
        """The requests that wait, with their callers."""
        return [(caller, each) for caller, queue in self._waiting.items() for each in queue]

    def give_up(self, caller: Hashable, request: T) -> None:
        """Remove a request that waits."""
        queue = self._waiting[caller]
        queue.remove(request)
        if not queue:
            del self._waiting[caller]
