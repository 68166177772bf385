"""Times that are counted from now: "two weeks ago", "last Monday", "at the weekend"."""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import datetime, timedelta

from .named_times import span
from .periods import Period
from .time_parts import third_of
from .time_patterns import NEIGHBOURS, NUMBERS, UNIT_DAYS, WEEKDAYS

_NEXT = {"this": 0, "next": 1, "coming": 1, "following": 1}
_HOURS = {"second": 1 / 3600, "minute": 1 / 60, "hour": 1.0}
_MONTHS = {"month": 1, "year": 12, "decade": 120}
# How long ago "the other day" may be, in days, at least and at most.
_OTHERS = {"day": (1, 14), "week": (4, 28), "month": (20, 90)}
# People round years, and the more the further they look back: of so many days of distance they
# are out by up to one, but never by less than or more than these.
_ROUNDED = 6
_LEAST_OUT, _MOST_OUT = 60, 182


class CountedTimes:
    """What such words mean, counted from `now`, which is aware UTC."""

    def __init__(self, now: datetime) -> None:
        self.now = now
        self._today = now.replace(hour=0, minute=0, second=0, microsecond=0)

    def ago(self, match: re.Match[str]) -> Period:
        """ "Two weeks ago", "half a year ago"."""
        return self._around(-_days(match))

    def ahead(self, match: re.Match[str]) -> Period:
        """ "In four weeks"."""
        return self._around(_days(match))

    def _around(self, days: int) -> Period:
        """ "Three weeks ago" is no day: half a unit to either side, a week of several months."""
        middle = self._today + timedelta(days=days)
        width = next(unit for unit in (365, 30, 7, 1) if abs(days) >= unit or unit == 1)
        half = width // 2
        if width == UNIT_DAYS["year"]:
            half = max(_LEAST_OUT, min(_MOST_OUT, abs(days) // _ROUNDED))
        if abs(days) >= UNIT_DAYS["decade"]:
            half = abs(days) // _ROUNDED
        return Period(middle - timedelta(days=half), middle + timedelta(days=half + 1))

    def very_day(self, match: re.Match[str], sign: int) -> Period:
        """ "A year ago today", "a week from tomorrow": the same day of the calendar."""
        told = (match["lead"] or match["day"]).lower()
        start = self._today + timedelta(days={"yesterday": -1, "tomorrow": 1}.get(told, 0))
        if not match["unit"]:
            return self._day_of(start + timedelta(days=sign * _days(match)))
        unit, count = match["unit"].lower(), sign * number(match["count"] or "one")
        if unit not in _MONTHS:
            return self._day_of(start + timedelta(days=count * UNIT_DAYS[unit]))
        months = count * _MONTHS[unit]
        year, month = divmod(start.year * 12 + start.month - 1 + months, 12)
        last = monthrange(year, month + 1)[1]
        return self._day_of(start.replace(year=year, month=month + 1, day=min(start.day, last)))

    def moments_ago(self, match: re.Match[str]) -> Period:
        """ "Ten minutes ago", "an hour ago": that day."""
        word = match["count"].lower()
        count = 0.5 if word.startswith("half") else number(word)
        return self._day_of(self.now - timedelta(hours=count * _HOURS[match["unit"].lower()]))

    def last_hours(self, match: re.Match[str]) -> Period:
        """ "In the last 24 hours"."""
        word = re.sub(r"\s+of$", "", (match["count"] or "1").lower())
        return Period(self.now - timedelta(hours=number(word)), self.now)

    def other(self, match: re.Match[str]) -> Period:
        """ "The other day"."""
        unit = match["unit"].lower()
        least, most = _OTHERS.get(unit, _OTHERS["day"])
        return Period(self._today - timedelta(days=most), self._today - timedelta(days=least - 1))

    def same_time(self, match: re.Match[str]) -> Period:
        """ "This time last year": half a month to either side, of a month a few days."""
        unit = match["unit"].lower()
        half = {"year": 14, "month": 3}.get(unit, 0)
        middle = self._today - timedelta(days=UNIT_DAYS[unit])
        return Period(middle - timedelta(days=half), middle + timedelta(days=half + 1))

    def weekdays_ago(self, match: re.Match[str]) -> Period:
        """ "Two Fridays ago"."""
        last = self.weekday(match)
        shift = timedelta(weeks=number(match["count"]) - 1)
        return Period(last.start - shift, last.end - shift)

    def before_last(self, match: re.Match[str]) -> Period:
        """ "The week before last"."""
        return self.unit(match["unit"].lower(), -2)

    def past(self, match: re.Match[str]) -> Period:
        """ "The last three months", "the past year"."""
        days = UNIT_DAYS[match["unit"].lower()] * number(match["count"] or "1")
        return Period(self._today - timedelta(days=days), self.now)

    def relative(self, match: re.Match[str]) -> Period:
        """ "Last week", "next month"."""
        return self.unit(match["unit"].lower(), _NEXT.get(match["which"].lower(), -1))

    def part_of_this(self, match: re.Match[str]) -> tuple[Period, ...]:
        """ "The start of the week"; an end may be to come or be that of the one before."""
        unit, part = match["unit"].lower(), match["part"].lower()
        shifts = (0, -1) if part == "end" else (0,)
        return tuple(third_of(self.unit(unit, shift), part) for shift in shifts)

    def weekend(self, _: re.Match[str]) -> tuple[Period, ...]:
        """ "At the weekend": the last that has begun or the next."""
        saturday = self.unit("weekend", 0)
        if saturday.start <= self.now:
            return (saturday,)
        return self.unit("weekend", -1), saturday

    def unit(self, unit: str, shift: int) -> Period:
        """The weekend, week, month or year so many before (below 0) or after the present one."""
        monday = self._today - timedelta(days=self._today.weekday())
        if unit == "year":
            return span(self._today.year + shift, 1, 12)
        if unit == "month":
            months = self._today.year * 12 + self._today.month - 1 + shift
            return span(months // 12, months % 12 + 1, 1)
        start = monday + timedelta(weeks=shift)
        if unit == "weekend":
            start += timedelta(days=5)
            return Period(start, start + timedelta(days=2))
        return Period(start, start + timedelta(weeks=1))

    def weekday_of_week(self, match: re.Match[str]) -> Period:
        """ "Monday last week", "next week's Friday"."""
        week = self.unit("week", _NEXT.get((match["which"] or match["after"]).lower(), -1))
        day = WEEKDAYS[(match["first"] or match["second"]).lower()]
        return self._day_of(week.start + timedelta(days=day))

    def weekday(self, match: re.Match[str]) -> Period:
        """ "On Monday": the last one."""
        back = (self._today.weekday() - WEEKDAYS[match["weekday"].lower()] - 1) % 7 + 1
        return self._day_of(self._today - timedelta(days=back))

    def next_weekday(self, match: re.Match[str]) -> Period:
        """ "Next Monday", "for Monday"."""
        ahead = (WEEKDAYS[match["weekday"].lower()] - self._today.weekday() - 1) % 7 + 1
        return self._day_of(self._today + timedelta(days=ahead))

    def night(self, match: re.Match[str]) -> Period:
        """ "Today", "yesterday", "the day after tomorrow"."""
        words = match[0].lower()
        shift = 2 if words.startswith("the ") else int(words in NEIGHBOURS)
        is_past = "yesterday" in words or words in ("last night", "the night before last")
        return self._day_of(self._today + timedelta(days=-shift if is_past else shift))

    @staticmethod
    def _day_of(moment: datetime) -> Period:
        start = moment.replace(hour=0, minute=0, second=0, microsecond=0)
        return Period(start, start + timedelta(days=1))


def _days(match: re.Match[str]) -> int:
    """The days of a count of units; "half a year" has no count."""
    if match["count"] is None:
        return UNIT_DAYS[match["half"].lower()] // 2
    return number(match["count"]) * UNIT_DAYS[match["unit"].lower()]


def number(word: str) -> int:
    """A small number in digits or in words."""
    return int(word) if word.isdigit() else NUMBERS[word.lower()]
