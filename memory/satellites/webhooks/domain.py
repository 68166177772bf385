"""When an event is sent again that a webhook did not take."""

from __future__ import annotations

from datetime import datetime, timedelta

# For so long an event is tried, and an endpoint may fail without a pause, before it is given up.
PATIENCE = timedelta(days=3)
# With fewer failures nothing is given up, however long they took.
LEAST_FAILURES = 5
_FIRST = timedelta(seconds=5)
_LONGEST = timedelta(hours=6)
_JITTER = 0.2
# Between two attempts there is more only where nobody was there to send.
_LONGEST_BETWEEN = _LONGEST * (1 + 2 * _JITTER)


def pause_before_next(*, attempts: int, chance: float) -> timedelta:
    """How long to wait after so many failed attempts (1 or more).

    5 seconds, doubled with each further failure up to 6 hours, then up to a fifth shorter or longer
    by `chance` (0-1), so that what failed together does not come back together.
    """
    pause = min(_FIRST * 2.0 ** min(attempts - 1, 20), _LONGEST)
    return pause * (1 - _JITTER + 2 * _JITTER * chance)


def is_new_start(*, last: datetime | None, now: datetime) -> bool:
    """Whether a failure is the first of a row of them: the last attempt is longer ago than any
    pause, as the workers were away, or there was none."""
    return last is None or now - last > _LONGEST_BETWEEN


def is_given_up(*, failures: int, since: datetime, now: datetime) -> bool:
    """Whether so many failures in a row, the first of them at `since`, are enough."""
    return failures >= LEAST_FAILURES and now - since >= PATIENCE
