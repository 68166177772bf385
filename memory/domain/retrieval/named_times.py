"""Times of the calendar that a question names: "3 May", "in March 2024", "at Easter"."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta

from ..extraction.days.feast_days import easter_sunday
from .periods import Period, day_or_none
from .time_parts import third_of
from .time_patterns import DECADE_WORDS, FEASTS, MONTHS, ORDINALS, SEASONS

# From Easter Sunday, its first day and how many one means by it.
_FROM_EASTER = {"easter": (-2, 4), "good friday": (-2, 1), "pentecost": (49, 2)}
_CENTURY = 1900
# "'24", "24".
_SHORT_YEAR = 3
_DAYS_LEFT_OF_YEAR, _AROUND_NEW_YEAR = (12, 27), 11


class NamedTimes:
    """What the names of times mean; without a year that of any, where it can be said."""

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

    def nearest(self, period: Period) -> Period:
        """The occurrence of a yearly period that is least far from now, before or after."""
        starts = (
            day_or_none(self._today.year + shift, period.start.month, period.start.day)
            for shift in (-1, 0, 1)
        )
        start = min((each for each in starts if each), key=lambda each: abs(each - self.now))
        return Period(start, start + (period.end - period.start))

    def iso(self, match: re.Match[str]) -> Period:
        """ "2026-05-07", "2026-05"."""
        return _named(match["year"], int(match["month"]), match["day"])

    def month_of_year(self, match: re.Match[str]) -> Period:
        """ "05/2026"."""
        return span(int(match["year"]), int(match["month"]), 1)

    def numeric(self, match: re.Match[str]) -> tuple[Period, ...]:
        """ "05.11.2026" is a day in November, "11/05/2026" may be one in May too."""
        first, second, year = match["first"], match["second"], match["year"]
        readings = []
        if 1 <= int(second) <= 12:
            readings.append(_named(year, int(second), first))
        if match["mark"] != "." and 1 <= int(first) <= 12 and first != second:
            readings.append(_named(year, int(first), second))
        return tuple(readings)

    def day(self, match: re.Match[str]) -> Period:
        """ "3 May", "May 3rd, 2024"."""
        return _named(self._full_year(match), _month(match), match["day"])

    def day_of_month(self, match: re.Match[str]) -> Period:
        """ "On the 3rd": the last one that has begun."""
        month = self._today.year * 12 + self._today.month - 1
        for back in range(3):
            start = day_or_none((month - back) // 12, (month - back) % 12 + 1, int(match["day"]))
            if start and start <= self.now:
                return Period(start, start + timedelta(days=1))
        raise ValueError("no such day in the last months")

    def last_month_name(self, match: re.Match[str]) -> Period:
        """ "Last March"."""
        return self.latest(_named(None, _month(match), None), is_over=True)

    def month(self, match: re.Match[str]) -> Period | None:
        """ "In March", "mid-May 2024"."""
        # "may" and "march" are verbs too, and some people are called April or June.
        if not (match["year"] or match["lead"]):
            return None
        return third_of(_named(self._full_year(match), _month(match), None), match["part"])

    def months(self, match: re.Match[str]) -> Period:
        """ "Between November and February": of one year and the next where it must be."""
        first, last = MONTHS[match["name"].lower()], MONTHS[match["last"].lower()]
        year = int(match["year"]) if match["year"] else 2000
        months = (last - first) % 12 + 1
        if match["year"] and last < first:
            year -= 1
        found = span(year, first, months)
        return Period(found.start, found.end, yearly=not match["year"])

    def season(self, match: re.Match[str]) -> Period | None:
        """ "In the summer of 2021", "last spring", "the summer holidays"."""
        # "fall" and "spring" are verbs too.
        if not (match["year"] or match["lead"]):
            return None
        found = span(int(match["year"] or 2000), _season_month(match), 3)
        if match["year"]:
            return found
        yearly = Period(found.start, found.end, yearly=True)
        lead = (match["lead"] or "").lower()
        if lead == "last":
            return self.latest(yearly, is_over=True)
        if lead == "next":
            begun = self.latest(yearly)
            return span(begun.start.year + 1, begun.start.month, 3)
        return yearly

    def seasons_ago(self, match: re.Match[str], count: int) -> Period:
        """ "Two summers ago": counted from the last one that is over."""
        found = span(2000, _season_month(match), 3)
        last = self.latest(Period(found.start, found.end, yearly=True), is_over=True)
        return span(last.start.year - count + 1, last.start.month, 3)

    def quarter(self, match: re.Match[str]) -> Period:
        """ "Q2 2025", "the third quarter"."""
        word = match["number"] or match["ordinal"].lower()
        number = int(word) if word.isdigit() else ORDINALS.index(word) + 1
        found = span(int(match["year"] or 2000), 3 * number - 2, 3)
        return Period(found.start, found.end, yearly=not match["year"])

    def half(self, match: re.Match[str]) -> Period:
        """ "H1 2025"."""
        found = span(int(match["year"] or 2000), 6 * int(match["number"]) - 5, 6)
        return Period(found.start, found.end, yearly=not match["year"])

    def year(self, match: re.Match[str]) -> Period:
        """ "In 2024", "late 2024"."""
        return third_of(span(int(match["year"]), 1, 12), match["part"])

    def short_year(self, match: re.Match[str]) -> Period:
        """ "In '24", "in '98": the last such year that has begun."""
        return span(int(self._full_year(match) or 0), 1, 12)

    def _full_year(self, match: re.Match[str]) -> str | None:
        """The year of a match; "'24" is the last such year that has begun."""
        year: str | None = match["year"]
        if year is None or len(year) > _SHORT_YEAR:
            return year
        this = self._today.year
        return str(this - (this - int(year.lstrip("'’"))) % 100)

    def decade(self, match: re.Match[str]) -> Period | None:
        """ "The 1990s", "the eighties"."""
        if match["short"] and not (match["sign"] or match["lead"]):
            return None
        if match["year"]:
            first = int(match["year"])
        else:
            word = match["word"]
            tens = DECADE_WORDS[word.lower()] if word else int(match["short"])
            first = self._today.year - (self._today.year - _CENTURY - tens) % 100
        return third_of(span(first, 1, 120), match["part"])

    def week(self, match: re.Match[str]) -> Period:
        """ "Calendar week 23", "week 23": of this year where none is named."""
        monday = date.fromisocalendar(int(match["year"] or self._today.year), int(match["week"]), 1)
        start = _midnight(monday)
        return Period(start, start + timedelta(weeks=1))

    def turn_of_year(self, _: re.Match[str]) -> Period:
        """ "At the turn of the year"."""
        start = datetime(2000, *_DAYS_LEFT_OF_YEAR, tzinfo=UTC)
        return Period(start, start + timedelta(days=_AROUND_NEW_YEAR), yearly=True)

    def feast(self, match: re.Match[str]) -> Period:
        """ "At Christmas", "last Easter", "on New Year's Eve 2023"."""
        name = match["name"].lower().replace("\u2019", "'")
        year = int(match["year"]) if match["year"] else None
        if name not in FEASTS:
            return self._movable(name, year, is_last=bool(match["lead"]))
        month, day, days = FEASTS[name]
        start = datetime(year or 2000, month, day, tzinfo=UTC)
        found = Period(start, start + timedelta(days=days), yearly=year is None)
        return self.latest(found, is_over=True) if match["lead"] and found.yearly else found

    def _movable(self, name: str, year: int | None, *, is_last: bool) -> Period:
        """A feast that moves: that of the year before now, unless one is named."""
        if name == "thanksgiving" and year is None and not is_last:
            # All days it may fall on, of any year.
            start = datetime(2000, 11, 22, tzinfo=UTC)
            return Period(start, start + timedelta(days=8), yearly=True)
        found = _moved(name, year or self._today.year)
        if year is None and found.start > self.now:
            found = _moved(name, self._today.year - 1)
        return found


def span(year: int, month: int, months: int) -> Period:
    """So many months from the first of that one."""
    last = year * 12 + month - 1 + months
    return Period(
        datetime(year, month, 1, tzinfo=UTC), datetime(last // 12, last % 12 + 1, 1, tzinfo=UTC)
    )


def _named(year: str | None, month: int, day: str | None) -> Period:
    # 2000 is a leap year: any day of a year can be said of it.
    number = int(year) if year else 2000
    if day is None:
        period = span(number, month, 1)
    else:
        start = datetime(number, month, int(day), tzinfo=UTC)
        period = Period(start, start + timedelta(days=1))
    return Period(period.start, period.end, yearly=not year)


def _moved(name: str, year: int) -> Period:
    if name == "thanksgiving":
        # The fourth Thursday of November, and the day after.
        first = datetime(year, 11, 1, tzinfo=UTC)
        start = first + timedelta(days=(3 - first.weekday()) % 7 + 21)
        return Period(start, start + timedelta(days=2))
    shift, days = _FROM_EASTER[name]
    start = _midnight(easter_sunday(year)) + timedelta(days=shift)
    return Period(start, start + timedelta(days=days))


def _midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)


def _month(match: re.Match[str]) -> int:
    return MONTHS[match["name"].lower()]


def _season_month(match: re.Match[str]) -> int:
    return SEASONS[match["season"].lower().replace("fall", "autumn")]
