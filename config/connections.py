"""How many connections each web process holds, so that they share what connects to the server."""

from __future__ import annotations

import mmap
import struct

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
