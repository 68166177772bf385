"""The forms in which questions name a time, and what each means: "last March", "two weeks ago"."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from ..extraction.days.feast_days import easter_sunday
from .periods import Period, day_or_none
from .time_patterns import (
    AGO,
    AHEAD,
    BEFORE_LAST,
    DAY_MONTH,
    FEAST,
    FEASTS,
    ISO,
    LAST_MONTH_NAME,
    LAST_WEEKDAY,
    MONTH_DAY,
    MONTH_ONLY,
    MONTH_SPAN,
    MONTHS,
    NEIGHBOURS,
    NEXT_WEEKDAY,
    NIGHTS,
    NUMBERS,
    NUMERIC,
    ORDINALS,
    PAST,
    QUARTER,
    RELATIVE,
    SEASON,
    SEASONS,
    UNIT_DAYS,
    WEEKDAYS,
    WEEKDAYS_AGO,
    YEAR_ONLY,
)

Meaning = Callable[[re.Match[str]], Period | tuple[Period, ...] | None]


class Forms:
    """What each form of a time means, counted from `now`, which is aware UTC."""

    def __init__(self, now: datetime) -> None:
        self.now = now
        self._today = now.replace(hour=0, minute=0, second=0, microsecond=0)

    def latest(self, period: Period, *, is_over: bool = False) -> Period:
        """The last occurrence of a yearly period that has begun, or that has ended.

        Raises ValueError where no such day was in the last years.
        """
        length = period.end - period.start
        for year in range(self._today.year, self._today.year - 9, -1):  # 29 February may take 8
            start = day_or_none(year, period.start.month, period.start.day)
            if start and (start + length if is_over else start) <= self.now:
                return Period(start, start + length)
        raise ValueError("no such day in the last years")

    def all(self) -> tuple[tuple[re.Pattern[str], Meaning], ...]:
        """The forms, each to be read on what those before it have left.

        A meaning is None, or raises ValueError, where the words name no time.
        """
        return (
            (ISO, lambda m: self._named(m["year"], int(m["month"]), m["day"])),
            (NUMERIC, self._numeric),
            (QUARTER, self._quarter),
            (FEAST, self._feast),
            (DAY_MONTH, lambda m: self._named(m["year"], _month(m), m["day"])),
            (MONTH_DAY, lambda m: self._named(m["year"], _month(m), m["day"])),
            (MONTH_SPAN, self._months),
            (LAST_MONTH_NAME, self._last_month_name),
            (MONTH_ONLY, self._month_only),
            (SEASON, self._season),
            (WEEKDAYS_AGO, self._weekdays_ago),
            (BEFORE_LAST, self._before_last),
            (AGO, self._ago),
            (AHEAD, self._ahead),
            (PAST, self._past),
            (RELATIVE, self._relative),
            (NEXT_WEEKDAY, self._next_weekday),
            (LAST_WEEKDAY, self._weekday),
            (NIGHTS, self._night),
            (YEAR_ONLY, lambda m: self._span(int(m["year"]), 1, 12)),
        )

    def _named(self, year: str | None, month: int, day: str | None) -> Period:
        # 2000 is a leap year: any day of a year can be said of it.
        number = int(year) if year else 2000
        if day is None:
            period = self._span(number, month, 1)
        else:
            start = datetime(number, month, int(day), tzinfo=UTC)
            period = Period(start, start + timedelta(days=1))
        return Period(period.start, period.end, yearly=year is None)

    @staticmethod
    def _span(year: int, month: int, months: int) -> Period:
        last = year * 12 + month - 1 + months
        return Period(
            datetime(year, month, 1, tzinfo=UTC),
            datetime(last // 12, last % 12 + 1, 1, tzinfo=UTC),
        )

    def _last_month_name(self, match: re.Match[str]) -> Period:
        return self.latest(self._named(None, _month(match), None), is_over=True)

    def _month_only(self, match: re.Match[str]) -> Period | None:
        # "may" and "march" are verbs too, and some people are called April or June.
        if not (match["year"] or match["lead"]):
            return None
        return self._named(match["year"], _month(match), None)

    def _season(self, match: re.Match[str]) -> Period | None:
        # "fall" and "spring" are verbs too.
        if not (match["year"] or match["lead"]):
            return None
        month = SEASONS[match["season"].lower().replace("fall", "autumn")]
        year = int(match["year"]) if match["year"] else 2000
        found = self._span(year, month, 3)
        if match["year"]:
            return found
        yearly = Period(found.start, found.end, yearly=True)
        is_last = (match["lead"] or "").lower() == "last"
        return self.latest(yearly, is_over=True) if is_last else yearly

    def _numeric(self, match: re.Match[str]) -> tuple[Period, ...]:
        """ "05.11.2026" is a day in November, "11/05/2026" may be one in May too."""
        first, second, year = match["first"], match["second"], match["year"]
        readings = []
        if int(second) <= 12:
            readings.append(self._named(year, int(second), first))
        if match["mark"] != "." and int(first) <= 12 and first != second:
            readings.append(self._named(year, int(first), second))
        return tuple(readings)

    def _months(self, match: re.Match[str]) -> Period:
        """ "Between November and February": of one year and the next where it must be."""
        first, last = MONTHS[match["name"].lower()], MONTHS[match["last"].lower()]
        year = int(match["year"]) if match["year"] else 2000
        months = (last - first) % 12 + 1
        if match["year"] and last < first:
            year -= 1
        found = self._span(year, first, months)
        return Period(found.start, found.end, yearly=not match["year"])

    def _quarter(self, match: re.Match[str]) -> Period:
        word = match["number"] or match["ordinal"].lower()
        number = int(word) if word.isdigit() else ORDINALS.index(word) + 1
        found = self._span(int(match["year"] or 2000), 3 * number - 2, 3)
        return Period(found.start, found.end, yearly=not match["year"])

    def _feast(self, match: re.Match[str]) -> Period:
        name = match["name"].lower().replace("\u2019", "'")
        year = int(match["year"]) if match["year"] else None
        if name == "easter":
            # It moves: that of the year before now, unless one is named.
            sunday = easter_sunday(year or self._today.year)
            if year is None and sunday > self._today.date():
                sunday = easter_sunday(self._today.year - 1)
            start = datetime(sunday.year, sunday.month, sunday.day, tzinfo=UTC)
            return Period(start - timedelta(days=2), start + timedelta(days=2))
        month, day, days = FEASTS[name]
        start = datetime(year or 2000, month, day, tzinfo=UTC)
        return Period(start, start + timedelta(days=days), yearly=year is None)

    def _ago(self, match: re.Match[str]) -> Period:
        return self._around(-_days(match))

    def _ahead(self, match: re.Match[str]) -> Period:
        return self._around(_days(match))

    def _around(self, days: int) -> Period:
        """ "Three weeks ago" is no day: half a unit to either side, a week of several months."""
        middle = self._today + timedelta(days=days)
        width = next(unit for unit in (365, 30, 7, 1) if abs(days) >= unit or unit == 1)
        return Period(middle - timedelta(days=width // 2), middle + timedelta(days=width // 2 + 1))

    def _weekdays_ago(self, match: re.Match[str]) -> Period:
        last = self._weekday(match)
        shift = timedelta(weeks=_count(match) - 1)
        return Period(last.start - shift, last.end - shift)

    def _before_last(self, match: re.Match[str]) -> Period:
        return self._unit(match["unit"].lower(), -2)

    def _past(self, match: re.Match[str]) -> Period:
        days = UNIT_DAYS[match["unit"].lower()] * _count(match)
        return Period(self._today - timedelta(days=days), self.now)

    def _relative(self, match: re.Match[str]) -> Period:
        shift = {"this": 0, "next": 1, "coming": 1, "following": 1}.get(match["which"].lower(), -1)
        return self._unit(match["unit"].lower(), shift)

    def _unit(self, unit: str, shift: int) -> Period:
        """The weekend, week, month or year so many before (below 0) or after the present one."""
        monday = self._today - timedelta(days=self._today.weekday())
        if unit == "year":
            return self._span(self._today.year + shift, 1, 12)
        if unit == "month":
            months = self._today.year * 12 + self._today.month - 1 + shift
            return self._span(months // 12, months % 12 + 1, 1)
        start = monday + timedelta(weeks=shift)
        if unit == "weekend":
            start += timedelta(days=5)
            return Period(start, start + timedelta(days=2))
        return Period(start, start + timedelta(weeks=1))

    def _weekday(self, match: re.Match[str]) -> Period:
        back = (self._today.weekday() - WEEKDAYS[match["weekday"].lower()] - 1) % 7 + 1
        start = self._today - timedelta(days=back)
        return Period(start, start + timedelta(days=1))

    def _next_weekday(self, match: re.Match[str]) -> Period:
        ahead = (WEEKDAYS[match["weekday"].lower()] - self._today.weekday() - 1) % 7 + 1
        start = self._today + timedelta(days=ahead)
        return Period(start, start + timedelta(days=1))

    def _night(self, match: re.Match[str]) -> Period:
        words = match[0].lower()
        shift = 2 if words.startswith("the day") else int(words in NEIGHBOURS)
        is_past = "yesterday" in words or words == "last night"
        start = self._today + timedelta(days=-shift if is_past else shift)
        return Period(start, start + timedelta(days=1))


def _month(match: re.Match[str]) -> int:
    return MONTHS[match["name"].lower()]


def _days(match: re.Match[str]) -> int:
    """The days of a count of units; "half a year" has no count."""
    if match["count"] is None:
        return UNIT_DAYS[match["half"].lower()] // 2
    return _count(match) * UNIT_DAYS[match["unit"].lower()]


def _count(match: re.Match[str]) -> int:
    return number(match["count"])


def number(word: str) -> int:
    """A small number in digits or in words."""
    return int(word) if word.isdigit() else NUMBERS[word.lower()]
