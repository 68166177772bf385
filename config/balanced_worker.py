"""A gunicorn worker that leaves a new connection to a process that holds fewer of them.

All processes accept from one socket, and the first to wake up takes the connection: of eight
clients that keep theirs, one process may hold all eight while the other is idle. So each process
shares how many it holds, and one that holds more than another waits a moment before it accepts.
Figures: docs/decisions/0005-search-on-postgresql.md.
"""

import mmap
import socket
import struct
import time

from gunicorn.workers.gthread import ThreadWorker  # type: ignore[import-untyped]

# Long enough for an idle process to wake up; a client hardly notices it.
PAUSE_SECONDS = 0.005
_LEAST_SECONDS = 0.001
# A process uses one by its age; two that share one are balanced less well.
_PLACES = 64
_NUMBER = struct.Struct("q")


class Connections:
    """How many connections each process holds, in memory shared with processes forked later."""

    def __init__(self) -> None:
        self._shared = mmap.mmap(-1, _PLACES * _NUMBER.size)

    def record(self, age: int, count: int) -> None:
        """Note how many connections the process of that age holds."""
        # 0 marks a place without a process.
        _NUMBER.pack_into(self._shared, age % _PLACES * _NUMBER.size, count + 1)

    def forget(self, age: int) -> None:
        """Remove the process of that age, which accepts no more."""
        self.record(age, -1)

    def least(self) -> int:
        """How many the process holds that holds the fewest; 0 where none is noted."""
        counts = [count for (count,) in _NUMBER.iter_unpack(self._shared[:]) if count]
        return min(counts, default=1) - 1


# Made when the configuration is read, before the processes that share it are forked.
CONNECTIONS = Connections()


class BalancedWorker(ThreadWorker):  # type: ignore[misc]  # gunicorn has no types
    """gunicorn's threaded worker, with about as many connections as the other processes."""

    _paused_until = float("-inf")
    _has_paused = False

    def accept(self, listener: socket.socket) -> None:
        """Accept a connection, or leave it to another process for a moment.

        One that is still waiting afterwards is accepted: the other process is busy or gone.
        """
        if not self._has_paused and self.nr_conns > CONNECTIONS.least():
            self._has_paused = True
            self._paused_until = time.monotonic() + PAUSE_SECONDS
            self.set_accept_enabled(False)
            return
        super().accept(listener)
        self._record()

    def set_accept_enabled(self, enabled: bool) -> None:
        """Accept connections or not; during a pause it does not."""
        if not enabled or time.monotonic() >= self._paused_until:
            super().set_accept_enabled(enabled)

    def wait_for_and_dispatch_events(self, timeout: float) -> None:
        """Handle events for at most so many seconds, less when a pause ends before."""
        self._record()
        has_ended = self._has_paused and self._accepting
        if self._has_paused and self.alive:
            timeout = min(timeout, max(_LEAST_SECONDS, self._paused_until - time.monotonic()))
        super().wait_for_and_dispatch_events(timeout)
        if has_ended:
            self._has_paused = False

    def _record(self) -> None:
        if self.alive:
            CONNECTIONS.record(self.age, self.nr_conns)
        else:
            CONNECTIONS.forget(self.age)
