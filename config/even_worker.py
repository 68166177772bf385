"""A worker that leaves a connection to another process of the server that holds fewer.

All processes wait on one socket, and whichever wakes first takes what arrives: of eight clients
that keep their connections one process had all eight, or six, and a second processor stood idle
for as long as they stayed. So each process tells the others how many it holds, and one with more
than another looks away for a moment before it takes one more.
"""

import mmap
import socket
import struct
import time

from gunicorn.workers.gthread import ThreadWorker  # type: ignore[import-untyped]

# Long enough for an idle process to wake up, and hardly felt by the client of a busy server.
LOOK_AWAY_SECONDS = 0.005
_LEAST_SECONDS = 0.001
# A process takes one by its age; two that share one at last would be spread less evenly.
_PLACES = 64
_NUMBER = struct.Struct("q")


class Connections:
    """How many connections each process holds, in memory that processes forked later share."""

    def __init__(self) -> None:
        self._shared = mmap.mmap(-1, _PLACES * _NUMBER.size)

    def tell(self, age: int, count: int) -> None:
        """The process of that age holds so many."""
        # 0 is where no process is.
        _NUMBER.pack_into(self._shared, age % _PLACES * _NUMBER.size, count + 1)

    def forget(self, age: int) -> None:
        """The process of that age takes no more."""
        self.tell(age, -1)

    def least(self) -> int:
        """How many the process holds that holds the fewest; 0 where none has told."""
        counts = [count for (count,) in _NUMBER.iter_unpack(self._shared[:]) if count]
        return min(counts, default=1) - 1


# Made where the configuration is read, before there is any process to share it with.
CONNECTIONS = Connections()


class EvenWorker(ThreadWorker):  # type: ignore[misc]  # gunicorn has no types
    """gunicorn's threads, and about as many connections as each of the other processes."""

    _away_until = float("-inf")
    _was_away = False

    def accept(self, listener: socket.socket) -> None:
        """Take a connection, or leave it to another process for a moment.

        One that is still there afterwards is taken: the other process is busy, or gone.
        """
        if not self._was_away and self.nr_conns > CONNECTIONS.least():
            self._was_away = True
            self._away_until = time.monotonic() + LOOK_AWAY_SECONDS
            self.set_accept_enabled(False)
            return
        super().accept(listener)
        self._tell()

    def set_accept_enabled(self, enabled: bool) -> None:
        """Listen or not; while it looks away it does not."""
        if not enabled or time.monotonic() >= self._away_until:
            super().set_accept_enabled(enabled)

    def wait_for_and_dispatch_events(self, timeout: float) -> None:
        """Do what there is to do, for so many seconds at most."""
        self._tell()
        is_back = self._was_away and self._accepting
        if self._was_away and self.alive:
            timeout = min(timeout, max(_LEAST_SECONDS, self._away_until - time.monotonic()))
        super().wait_for_and_dispatch_events(timeout)
        if is_back:
            self._was_away = False

    def _tell(self) -> None:
        if self.alive:
            CONNECTIONS.tell(self.age, self.nr_conns)
        else:
            CONNECTIONS.forget(self.age)
