"""Feast days as dates: those of the calendar, and those that move with Easter."""

from __future__ import annotations

import re
from datetime import date, timedelta

from .moments import Precision, month_day
from .span_dates import Resolved

_FIXED = {
    "christmas eve": (12, 24),
    "christmas day": (12, 25),
    "boxing day": (12, 26),
    "new years eve": (12, 31),
    "new years day": (1, 1),
    "halloween": (10, 31),
    "valentines": (2, 14),
    "valentines day": (2, 14),
    "midsummers day": (6, 24),
}
_FROM_EASTER = {"good friday": -2, "easter sunday": 0, "easter monday": 1}


def easter_sunday(year: int) -> date:
    """The Gregorian Easter Sunday of a year (the anonymous algorithm, Nature 1876)."""
    golden = year % 19
    century, rest = divmod(year, 100)
    leap, left = divmod(century, 4)
    moon = (19 * golden + century - leap - (century - (century + 8) // 25 + 1) // 3 + 15) % 30
    quarter, odd = divmod(rest, 4)
    offset = (32 + 2 * left + 2 * quarter - moon - odd) % 7
    late = (golden + 11 * moon + 22 * offset) // 451
    month, day = divmod(moon + offset - 7 * late + 114, 31)
    return date(year, month, day + 1)


def feast(match: re.Match[str], today: date, past: bool) -> Resolved | None:
    """ "the day after Boxing Day": the nearest one that the tense points at."""
    name = re.sub(r"['’]", "", match.group("feastn").lower())
    day = _in_year(name, today.year)
    if past and day > today:
        day = _in_year(name, today.year - 1)
    elif not past and day < today:
        day = _in_year(name, today.year + 1)
    step = {"after": 1, "before": -1}.get((match.group("feastp") or "").lower(), 0)
    day += timedelta(days=step)
    return month_day(day), "on", day, Precision.CALENDAR


def _in_year(name: str, year: int) -> date:
    if name in _FROM_EASTER:
        return easter_sunday(year) + timedelta(days=_FROM_EASTER[name])
    return date(year, *_FIXED[name])
