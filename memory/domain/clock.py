"""When something can have been said, give or take clocks and zones."""

from __future__ import annotations

from datetime import datetime, timedelta

MOST_AHEAD = timedelta(days=1)


def is_to_come(*, at: datetime, now: datetime) -> bool:
    """Whether nothing can have been said then yet: it lies more than a day ahead of `now`."""
    # Not `at > now + …`: near the last day there is, that sum would overflow.
    return at - now > MOST_AHEAD
