"""Thread-safe caches whose entries expire."""

from __future__ import annotations

from collections.abc import Hashable
from threading import Lock
from typing import Any

from cachetools import TTLCache

# How long a process goes on as if a team had no approximate index, or an owner few memories: being
# late costs only time.
KEPT_SECONDS = 60.0
MOST_KEPT = 10_000


class SharedTTLCache:
    """A `cachetools.TTLCache` that threads may share."""

    def __init__(self, *, most: int = MOST_KEPT, seconds: float = KEPT_SECONDS) -> None:
        self._entries: TTLCache[Hashable, Any] = TTLCache(most, seconds)
        self._lock = Lock()

    def get(self, key: Hashable) -> Any:  # Any: a value of any type
        """The value, or None where there is none or it has expired."""
        with self._lock:
            return self._entries.get(key)

    def put(self, key: Hashable, value: object) -> None:
        with self._lock:
            self._entries[key] = value

    def clear(self) -> None:
        with self._lock:
            self._entries.clear()
