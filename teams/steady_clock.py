"""A clock that nobody sets: when this process began, and the time that has passed since."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

# On Linux the one that also counts while the machine sleeps.
_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
_BEGAN_AT, _BEGAN = datetime.now(UTC), time.clock_gettime(_CLOCK)


def steady_now() -> datetime:
    """What time it is if the clock was right when this process began, however it was set since."""
    return _BEGAN_AT + timedelta(seconds=time.clock_gettime(_CLOCK) - _BEGAN)
