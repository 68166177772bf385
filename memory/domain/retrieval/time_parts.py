"""Parts of a period ("the end of last month"), and periods that make one ("March last year")."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime, timedelta

from .periods import Period, day_or_none
from .time_patterns import ORDINALS, WEEKDAYS

_THIRDS = {"early": 0, "start": 0, "beginning": 0, "mid": 1, "middle": 1, "late": 2, "end": 2}
_FIXED = ("half", "week")
_A_DAY, _A_WEEK = timedelta(days=1), timedelta(weeks=1)
_LONG = timedelta(days=300)


def third_of(period: Period, part: str | None) -> Period:
    """Its early, mid or late third, or its start, middle or end, a day at least; None for all."""
    if part is None:
        return period
    third = (period.end - period.start) / 3
    place = _THIRDS[part.lower()]
    start = _whole_day(period.start + place * third)
    end = max(_whole_day(period.start + (place + 1) * third), start + _A_DAY)
    return replace(period, start=start, end=end)


def part_of(match: re.Match[str], period: Period, now: datetime) -> Period:
    """What the words in front of a period mean of it.

    Of a period without a year those that keep their days in every year (`is_yearly`). Raises
    ValueError where they mean nothing of it.
    """
    if match["edge"] or match["third"]:
        return third_of(period, match["edge"] or match["third"])
    if match["whole"]:
        return _around(period, match["whole"].lower())
    if match["date"]:
        return _day(period, int(match["date"]))
    if match["side"]:
        return _side(period, match["side"].lower(), now)
    return _nth(period, match["nth"].lower(), match["unit"].lower())


def is_yearly(match: re.Match[str]) -> bool:
    """Whether the part has the same days in every year, as the first week of May has."""
    return bool(match["edge"] or match["third"] or match["date"]) or match["unit"] in _FIXED


def _whole_day(moment: datetime) -> datetime:
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


def _around(period: Period, unit: str) -> Period:
    """ "The week of May 11", "the weekend of 6 June", "the evening of 6 June"."""
    if period.end - period.start > _A_WEEK:
        raise ValueError("it is in no one week")
    monday = period.start - timedelta(days=period.start.weekday())
    if unit == "week":
        return Period(monday, monday + _A_WEEK)
    if unit == "weekend":
        return Period(monday + 5 * _A_DAY, monday + _A_WEEK)
    return period


def _day(period: Period, day: int) -> Period:
    """ "The 14th of last month"."""
    if not timedelta(days=27) < period.end - period.start < timedelta(days=32):
        raise ValueError("it is no month")
    start = period.start.replace(day=day)
    return replace(period, start=start, end=start + _A_DAY)


def _side(period: Period, side: str, now: datetime) -> Period:
    """ "Earlier this week", "so far this month", "later this year"."""
    if side != "later":
        return replace(period, end=max(period.start, min(period.end, now)))
    return replace(period, start=min(period.end, max(period.start, now)))


def _nth(period: Period, nth: str, unit: str) -> Period:
    """ "The first week of May", "the second half of 2025", "the last Friday of June"."""
    place = ORDINALS.index(nth) if nth in ORDINALS else -1
    if unit == "half":
        middle = _whole_day(period.start + (period.end - period.start) / 2)
        if nth in ("third", "fourth"):
            raise ValueError("there are two halves")
        return replace(period, end=middle) if place == 0 else replace(period, start=middle)
    if unit == "week":
        start = period.start + place * _A_WEEK if place >= 0 else period.end - _A_WEEK
        return replace(period, start=start, end=start + _A_WEEK)
    wanted, days = (5, 2) if unit == "weekend" else (WEEKDAYS[unit], 1)
    if place < 0:
        start = period.end - days * _A_DAY
        start -= timedelta(days=(start.weekday() - wanted) % 7)
    else:
        start = period.start + timedelta(days=(wanted - period.start.weekday()) % 7)
        start += place * _A_WEEK
    if not period.start <= start < period.end:
        raise ValueError("it has no such day")
    return Period(start, start + days * _A_DAY)


def one_of(fine: Period, coarse: Period) -> Period | None:
    """The one time that two side by side mean: "March last year", "May two years ago".

    None where they are two times.
    """
    if coarse.yearly or coarse.end - coarse.start < timedelta(days=100):
        return None
    if not fine.yearly or fine.end - fine.start > _LONG:
        return None
    middle = coarse.start + (coarse.end - coarse.start) / 2
    start = day_or_none(middle.year, fine.start.month, fine.start.day)
    return None if start is None else Period(start, start + (fine.end - fine.start))
