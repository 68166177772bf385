"""When an event is sent again that a webhook did not take."""

from __future__ import annotations

from datetime import timedelta

# For so long an event is tried, and an endpoint may fail without a pause, before it is given up.
PATIENCE = timedelta(days=3)
_FIRST = timedelta(seconds=5)
_LONGEST = timedelta(hours=6)
_JITTER = 0.2


def pause_before_next(*, attempts: int, chance: float) -> timedelta:
    """How long to wait after so many failed attempts (1 or more).

    5 seconds, doubled with each further failure up to 6 hours, then up to a fifth shorter or longer
    by `chance` (0-1), so that what failed together does not come back together.
    """
    pause = min(_FIRST * 2.0 ** min(attempts - 1, 20), _LONGEST)
    return pause * (1 - _JITTER + 2 * _JITTER * chance)
