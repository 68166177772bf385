"""How long each step of a read takes."""

from __future__ import annotations

import time


def milliseconds(start: float, end: float | None = None) -> float:
    """Between two moments of `time.perf_counter`, until now without the second."""
    return round(((end or time.perf_counter()) - start) * 1000, 3)


class Stopwatch:
    """Times steps that follow each other; it runs from when it is made."""

    def __init__(self) -> None:
        self._started = self._last = time.perf_counter()
        self.steps_ms: dict[str, float] = {}

    def lap(self, step: str) -> None:
        """What came since the last lap was this step."""
        now = time.perf_counter()
        self.steps_ms[step] = milliseconds(self._last, now)
        self._last = now

    @property
    def total_ms(self) -> float:
        """Milliseconds since it was started."""
        return milliseconds(self._started)
