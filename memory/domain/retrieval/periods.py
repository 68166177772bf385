"""Spans of time that a question names, and how near memories lie to them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np

from memory.domain.scoring import Floats
from memory.domain.text.calendar import DAY, WEEK, days_from
from memory.domain.text.date_types import Grain, Lean, NamedTime
from memory.domain.text.dates import read_dates

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
# What is due on Friday is due on the next one, what came on Friday came on the last.
_LEANS: tuple[Lean, ...] = ("past", "future")
_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)
# Who asks for what was before a day means the days before it, of a year the years.
_LEAST_AROUND, _LENGTHS_AROUND = 2 * WEEK, 12
# A leap year: any day of a year can be said of it.
_ANY_YEAR = 2000


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


@dataclass(frozen=True, slots=True)
class QuestionTime:
    """A period, and where in the question (start and end) its words stand."""

    start: int
    end: int
    period: Period


def find_times(text: str, *, now: datetime) -> tuple[QuestionTime, ...]:
    """The periods a question names, in its order, on the calendar and clock of `now`'s zone.

    A month or day without a year means that of any year, a weekday the last and the next one;
    "before", "until", "after" and "since" mean the time on that side. What comes round ("every
    Monday") names no period.
    """
    clock = now.replace(tzinfo=UTC)
    return tuple(
        dict.fromkeys(
            QuestionTime(found.side_start, found.end, period)
            for lean in _LEANS
            for found in read_dates(text, anchor=clock, lean=lean)
            for period in _periods(text, found, clock)
        )
    )


def _periods(text: str, found: NamedTime, now: datetime) -> Iterator[Period]:
    if found.recurring and not found.yearless:
        return
    first, last = found.first, found.last
    if found.grain <= Grain.HOUR and last != now:
        # What was said is dated by its day.
        first, last = days_from(first)[0], days_from(max(first, last - timedelta(minutes=1)))[1]
    if found.side:
        # How things stand "as of" a day is asked of all that was until then.
        is_until = text[found.side_start : found.start].lower().startswith("as of")
        yield _on_side("until" if is_until else found.side, first, last, now)
    elif found.yearless:
        start = first.replace(year=_ANY_YEAR)
        yield Period(start, start + (last - first), yearly=True)
    else:
        yield Period(first, last)
    if found.alternative:
        yield Period(found.alternative, found.alternative + DAY)


def _on_side(side: str, first: datetime, last: datetime, now: datetime) -> Period:
    around = max(_LEAST_AROUND, _LENGTHS_AROUND * (last - first))
    if side == "before":
        return Period(max(_LONG_AGO, first - around), first)
    if side == "until":
        return Period(min(_LONG_AGO, first), last)
    if side == "after":
        return Period(last, last + around)
    return Period(first, max(now, first))
