"""Spans of time that a question names, and how near memories lie to them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# What lies just outside a named time has at most this share of what lies inside. Any lower share
# measures the same; it is high enough for what was told late or dated a little wrong.
BESIDE = 0.6
# Beside a time it decays over half of its length, over a fortnight at most.
_OF_LENGTH, _MOST_DAYS = 0.5, 14.0
# People tell of what happened for about a week afterwards; when something happened is a day.
TOLD_DAYS, HAPPENED_DAYS = 7.0, 1.0
# Less is told of what is still to come.
_EARLY = 0.5
_DAY_SECONDS = 86_400.0


@dataclass(frozen=True, slots=True)
class Period:
    """From `start` up to, not including, `end`; `yearly` when no year was said.

    Both are what calendar and clock show where it is asked, marked as UTC whatever the zone is.
    """

    start: datetime
    end: datetime
    yearly: bool = False


def closeness(
    periods: tuple[Period, ...], *, since: Floats, until: Floats, least_days: float = HAPPENED_DAYS
) -> Floats:
    """How near each span of time lies to the nearest period: 1 where they meet, towards 0 away.

    Beside a period it is `BESIDE` at most, and decays in proportion to its length, over no fewer
    than `least_days`. `since` and `until` are seconds of the epoch, NaN where unknown, which
    counts as 0.
    """
    best = np.zeros(len(since))
    for period in periods:
        length = (period.end - period.start).total_seconds() / _DAY_SECONDS
        decay = _DAY_SECONDS * min(max(least_days, _OF_LENGTH * length), _MOST_DAYS)
        for start, end in _occurrences(period, since, until):
            away = np.maximum((since - end) / decay, (start - until) / (_EARLY * decay))
            beside = BESIDE * np.exp(-np.maximum(away, 0.0))
            best = np.fmax(best, np.where(away > 0, beside, np.where(np.isnan(away), 0.0, 1.0)))
    return best


def _occurrences(period: Period, since: Floats, until: Floats) -> Iterator[tuple[float, float]]:
    known = np.concatenate([since, until])
    known = known[np.isfinite(known)]
    if not period.yearly or not len(known):
        yield period.start.timestamp(), period.end.timestamp()
        return
    years = np.unique(known.astype("datetime64[s]").astype("datetime64[Y]").astype(int)) + 1970
    length = period.end - period.start
    for year in sorted({int(each) + shift for each in years for shift in (-1, 0, 1)}):
        start = day_or_none(year, period.start.month, period.start.day)
        if start is not None:
            yield start.timestamp(), (start + length).timestamp()


def day_or_none(year: int, month: int, day: int) -> datetime | None:
    """Midnight UTC of that day, None where the calendar does not have it."""
    try:
        return datetime(year, month, day, tzinfo=UTC)
    except ValueError:
        return None
