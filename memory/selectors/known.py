"""What a process knows of owners for a while: how much they have, how it is indexed."""

from __future__ import annotations

import threading
import time
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

# How long a process goes on as if a team had no approximate index, or an owner few memories: being
# late costs only time.
KNOWN_SECONDS = 60.0
MOST_KNOWN = 10_000


@dataclass(slots=True)
class Known:
    """Answers that hold for a while, the latest ones of a process."""

    # Any: keys and answers of any type
    _answers: dict[Any, tuple[float, Any]] = field(default_factory=dict)
    _changing: threading.Lock = field(default_factory=threading.Lock)

    def get(self, key: Hashable) -> Any:  # Any: an answer of any type
        """The answer, or None for one that is not known any more."""
        found = self._answers.get(key)
        return found[1] if found and time.monotonic() - found[0] < KNOWN_SECONDS else None

    def put(self, key: Hashable, answer: object) -> None:
        """Know the answer from now on."""
        with self._changing:
            self._answers[key] = (time.monotonic(), answer)
            while len(self._answers) > MOST_KNOWN:
                self._answers.pop(next(iter(self._answers)))

    def clear(self) -> None:
        """Know nothing."""
        with self._changing:
            self._answers.clear()
