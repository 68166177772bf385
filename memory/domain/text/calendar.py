"""Days, spans and their arithmetic."""

from __future__ import annotations

import calendar
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from enum import IntEnum
from typing import Final, Literal

from dateutil.easter import easter
from dateutil.relativedelta import relativedelta

Lean = Literal["past", "future", "nearest"]
"""The occurrence that is meant when words name several: "on Friday", "in May"."""

Side = Literal["", "since", "until", "before", "after"]
"""On which side of a time something lies; "since" and "until" include the time itself."""


class Grain(IntEnum):
    """The precision of a time in words, from the finest to the coarsest."""

    MINUTE = 1
    HOUR = 2
    DAY = 3
    WEEKEND = 4
    WEEK = 5
    MONTH = 6
    QUARTER = 7
    SEASON = 8
    YEAR = 9
    DECADE = 10


@dataclass(frozen=True, slots=True)
class NamedTime:
    """A time that a text names.

    - `start`, `end`: its characters, from `start` up to, not including, `end`.
    - `first`, `last`: the time, from `first` up to, not including, `last`, in the zone of the
      anchor; of a recurring time the next or last occurrence. While a text is being read they are
      on the local clock, which is marked as UTC.
    - `yearless`: a day, month or season whose year was not said; `first` and `last` are then the
      occurrence that the lean chose.
    - `recurring`: whether it comes round; `weekday`: whether a day of the week names it.
    - `alternative`: the first day in the other reading of "05/06/2026", which is read day first.
    - `side_start`: where the word of its `side` begins ("since"), else `start`.
    """

    start: int
    end: int
    first: datetime
    last: datetime
    grain: Grain
    yearless: bool = False
    recurring: bool = False
    weekday: bool = False
    alternative: datetime | None = None
    side: Side = ""
    side_start: int = 0


MONTHS: dict[str, int] = {
    form: number
    for number, name in enumerate(calendar.month_name)
    if name
    for form in (name.lower(), name[:3].lower())
} | {"sept": 9}
WEEKDAYS: dict[str, int] = {name.lower(): number for number, name in enumerate(calendar.day_name)}
"""Monday is 0."""

SHORT_WEEKDAYS: dict[str, int] = {
    "mon": 0, "tue": 1, "tues": 1, "wed": 2, "thu": 3, "thur": 3, "thurs": 3, "fri": 4, "sat": 5,
    "sun": 6,
}  # fmt: skip

SEASONS: dict[str, int] = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
"""The month in which each season of three months begins, in the northern hemisphere."""

AMBIGUOUS_NAMES = frozenset(
    {"may", "march", "april", "june", "august", "jan", "mar", "fall", "spring", "sat", "sun", "wed"}
)
"""Names of months, days and seasons that are first names or common words, too."""

PARTS_OF_DAY: dict[str, tuple[int, int]] = {
    "morning": (6, 12), "lunchtime": (12, 14), "noon": (12, 13), "midday": (12, 13),
    "afternoon": (12, 18), "evening": (18, 22), "night": (20, 24), "midnight": (0, 1),
}  # fmt: skip
"""The hours that a part of the day lasts, first included and last not."""

# Month, day and number of days; the possessive "'s" is left out of the names.
FIXED_HOLIDAYS: dict[str, tuple[int, int, int]] = {
    "christmas": (12, 24, 3),
    "xmas": (12, 24, 3),
    "christmas eve": (12, 24, 1),
    "christmas day": (12, 25, 1),
    "boxing day": (12, 26, 1),
    "new year": (1, 1, 1),
    "new year eve": (12, 31, 1),
    "new year day": (1, 1, 1),
    "halloween": (10, 31, 1),
    "valentine": (2, 14, 1),
    "valentine day": (2, 14, 1),
    "midsummer": (6, 20, 7),
    "midsummer day": (6, 24, 1),
}
# Days from Easter Sunday and number of days.
FROM_EASTER: dict[str, tuple[int, int]] = {
    "easter": (-2, 4),
    "good friday": (-2, 1),
    "easter sunday": (0, 1),
    "easter monday": (1, 1),
    "pentecost": (49, 2),
}
HOLIDAYS = frozenset({*FIXED_HOLIDAYS, *FROM_EASTER, "thanksgiving"})


Span = tuple[datetime, datetime]

DAY: Final = timedelta(days=1)
WEEK: Final = timedelta(weeks=1)
UNITS: Final[dict[str, tuple[Grain, int]]] = {
    "day": (Grain.DAY, 1),
    "night": (Grain.DAY, 1),
    "week": (Grain.WEEK, 7),
    "fortnight": (Grain.WEEK, 14),
    "month": (Grain.MONTH, 30),
    "quarter": (Grain.QUARTER, 91),
    "year": (Grain.YEAR, 365),
    "decade": (Grain.DECADE, 3652),
}
"""The grain of each unit and its length in days."""

HOURS: Final[dict[str, float]] = {"second": 1 / 3600, "minute": 1 / 60, "hour": 1.0}
# As from 1896 to 1904.
_YEARS_TO_A_LEAP_DAY = 8
# People round years, and the more so the further away they are; in days.
_ROUNDED, _LEAST_OUT, _MOST_OUT = 6, 60, 182


def months_from(year: int, month: int, months: int) -> Span:
    """The span of so many months from the first day of that one; `month` may be any number."""
    first = midnight(year, 1, 1) + relativedelta(months=month - 1)
    return first, first + relativedelta(months=months)


def days_from(day: datetime, days: int = 1) -> Span:
    """The span of so many days from the midnight before a moment."""
    start = day.replace(hour=0, minute=0, second=0, microsecond=0)
    return start, start + timedelta(days=days)


@dataclass(frozen=True, slots=True)
class Clock:
    """The local time, marked as UTC, that words are read at, and which way they lean."""

    now: datetime
    lean: Lean

    @property
    def today(self) -> datetime:
        """The midnight before now."""
        return self.now.replace(hour=0, minute=0, second=0, microsecond=0)

    def pick(self, spans: Iterable[Span], lean: Lean | None = None) -> Span:
        """The one of spans in order of time that is meant; ValueError where there is none.

        Leaning to the past it is the last that has begun, to the future the first not yet over.
        """
        lean = lean or self.lean
        found = list(spans)
        if lean == "past":
            found = [span for span in found if span[0] <= self.now][-1:]
        elif lean == "future":
            found = [span for span in found if span[1] > self.now][:1]
        if not found:
            raise ValueError("no such time")
        return min(found, key=self._distance)

    def _distance(self, span: Span) -> timedelta:
        return max(span[0] - self.now, self.now - span[1], timedelta(0))

    def in_year(self, month: int, day: int | None, months: int = 1, **lean: Lean) -> Span:
        """A day, or so many months from a month, in the year that is meant."""
        spans = []
        around = _YEARS_TO_A_LEAP_DAY if (month, day) == (2, 29) else 2
        for year in range(self.now.year - around, self.now.year + around + 1):
            if day is None:
                spans.append(months_from(year, month, months))
            elif day <= calendar.monthrange(year, month)[1]:
                spans.append(days_from(midnight(year, month, day)))
        return self.pick(spans, **lean)

    def day_of_month(self, day: int) -> Span:
        """ "On the 3rd": of this month or one beside it."""
        firsts = (
            months_from(self.now.year, self.now.month + shift, 1)[0] for shift in range(-2, 3)
        )
        return self.pick(
            days_from(first.replace(day=day))
            for first in firsts
            if day <= calendar.monthrange(first.year, first.month)[1]
        )

    def weekday(self, weekday: int, lean: Lean | None = None) -> Span:
        """The day of that name within the week before or behind today, which is neither."""
        ahead = (weekday - self.today.weekday() - 1) % 7 + 1
        behind = (self.today.weekday() - weekday - 1) % 7 + 1
        return self.pick(
            (days_from(self.today - behind * DAY), days_from(self.today + ahead * DAY)), lean
        )

    def holiday(self, name: str, **lean: Lean) -> Span:
        """A holiday in the year that is meant."""
        years = range(self.now.year - 2, self.now.year + 3)
        return self.pick((holiday_span(name, year) for year in years), **lean)

    def last_over(self, month: int, months: int) -> Span:
        """The last months of that name that are over."""
        years = (self.now.year, self.now.year - 1, self.now.year - 2)
        spans = (months_from(year, month, months) for year in years)
        return next(span for span in spans if span[1] <= self.now)

    def unit(self, unit: str, shift: int) -> Span:
        """The day, week, month ... that is so many after the present one."""
        if unit in ("day", "night"):
            return days_from(self.today + shift * DAY)
        if unit in ("week", "weekend", "fortnight"):
            monday = self.today + shift * WEEK - self.today.weekday() * DAY
            return days_from(monday + 5 * DAY, 2) if unit == "weekend" else days_from(monday, 7)
        if unit == "month":
            return months_from(self.now.year, self.now.month + shift, 1)
        if unit == "quarter":
            return months_from(self.now.year, (self.now.month - 1) // 3 * 3 + 1 + 3 * shift, 3)
        if unit == "decade":
            return months_from(self.now.year // 10 * 10 + 10 * shift, 1, 120)
        return months_from(self.now.year + shift, 1, 12)

    def around(self, days: int) -> Span:
        """About so many days from today: half a week, month or more to either side."""
        width = next(unit for unit in (365, 30, 7, 1) if abs(days) >= unit or unit == 1)
        half = width // 2
        if width == UNITS["year"][1]:
            half = max(_LEAST_OUT, min(_MOST_OUT, abs(days) // _ROUNDED))
        if abs(days) >= UNITS["decade"][1]:
            half = abs(days) // _ROUNDED
        middle = self.today + days * DAY
        return middle - half * DAY, middle + (half + 1) * DAY


def holiday_span(name: str, year: int) -> Span:
    """The days of a holiday in a year; `name` is in `HOLIDAYS`."""
    if name in FIXED_HOLIDAYS:
        month, day, days = FIXED_HOLIDAYS[name]
        return days_from(midnight(year, month, day), days)
    if name in FROM_EASTER:
        shift, days = FROM_EASTER[name]
        return days_from(_midnight(easter(year) + shift * DAY), days)
    # Thanksgiving is the fourth Thursday of November; the Friday after it is free as well.
    first = midnight(year, 11, 1)
    return days_from(first + ((WEEKDAYS["thursday"] - first.weekday()) % 7 + 21) * DAY, 2)


def nth_of(first: datetime, last: datetime, nth: int, unit: str) -> Span:
    """The `nth` half, week, weekend or weekday of a time, the last one for 0; else ValueError."""
    if unit == "half":
        middle = days_from(first + (last - first) / 2)[0]
        return (first, middle) if nth == 1 else (middle, last)
    if unit == "week":
        start = first + (nth - 1) * WEEK if nth else last - WEEK
        return start, start + WEEK
    wanted, days = (5, 2) if unit == "weekend" else (WEEKDAYS[unit], 1)
    if nth:
        start = first + (wanted - first.weekday()) % 7 * DAY + (nth - 1) * WEEK
    else:
        start = last - days * DAY
        start -= (start.weekday() - wanted) % 7 * DAY
    if not first <= start < last:
        raise ValueError("it has no such day")
    return start, start + days * DAY


def away_from(edge: datetime, sign: int, unit: str, count: int | None) -> tuple[Span, Grain]:
    """The units or weekdays before or after a moment; about then where they are counted."""
    if unit in WEEKDAYS or unit == "weekend":
        wanted, days = (WEEKDAYS[unit], 1) if unit in WEEKDAYS else (5, 2)
        start = edge - DAY if sign < 0 else edge
        start += sign * (sign * (wanted - start.weekday()) % 7) * DAY
        return (start, start + days * DAY), Grain.WEEKEND if days == 2 else Grain.DAY
    grain, days = UNITS[unit.removesuffix("s")]
    width = days * DAY
    if count is None:
        return ((edge - width, edge) if sign < 0 else (edge, edge + width)), grain
    middle = edge + sign * count * width - (DAY if sign > 0 else timedelta(0))
    half = (days - 1) // 2 * DAY
    return (middle - half, middle + half + DAY), grain


def iso_week(year: int, week: int) -> Span:
    """A week by its number after ISO 8601."""
    return days_from(_midnight(date.fromisocalendar(year, week, 1)), 7)


def midnight(year: int, month: int, day: int) -> datetime:
    """The beginning of a day; ValueError where the calendar does not have it."""
    return datetime(year, month, day, tzinfo=UTC)


def _midnight(day: date) -> datetime:
    return midnight(day.year, day.month, day.day)
