"""Reads the times in a question: "last March", "in May 2023", "two weeks ago", "since Monday"."""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

from .periods import Period, day_or_none

_Meaning = Callable[[re.Match[str]], Period | None]

MONTHS = {
    form: number
    for number, name in enumerate(calendar.month_name)
    if name
    for form in (name.lower(), name[:3].lower())
} | {"sept": 9}
WEEKDAYS = {name.lower(): number for number, name in enumerate(calendar.day_name)}
_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "winter": 12}
_NUMBER_WORDS = (
    *("", "a an one", "two couple", "three few", "four", "five", "six", "seven", "eight", "nine"),
    *("ten", "eleven", "twelve"),
)
_NUMBERS = {word: number for number, words in enumerate(_NUMBER_WORDS) for word in words.split()}
_UNIT_DAYS = {"day": 1, "week": 7, "fortnight": 14, "month": 30, "year": 365}

_MONTH = "|".join(MONTHS)
_NUMBER = rf"\d{{1,3}}|{'|'.join(_NUMBERS)}"
_YEAR = r"(?:19|20)\d\d"
_ORDINAL = r"(?:st|nd|rd|th)?"


def find_periods(text: str, *, now: datetime) -> tuple[Period, ...]:
    """The periods a question names, in the order of the forms below; `now` is aware.

    A month or day without a year means that of any year; "last" and "ago" are counted from `now`.
    What is no date ("February 31") is left out.
    """
    return tuple(_Reader(now.astimezone(UTC)).read(text))


class _Reader:
    """Reads one question, each form on what the forms before it have left."""

    def __init__(self, now: datetime) -> None:
        self._now = now
        self._today = now.replace(hour=0, minute=0, second=0, microsecond=0)

    def read(self, text: str) -> Iterator[Period]:
        for pattern, meaning in self._forms():
            for match in list(pattern.finditer(text)):
                try:
                    period = meaning(match)
                except (ValueError, OverflowError):  # a date that the calendar does not have
                    continue
                if period is not None:
                    yield self._directed(text[: match.start()], match[0], period)
                    text = text[: match.start()] + " " * len(match[0]) + text[match.end() :]

    def _directed(self, before: str, match: str, period: Period) -> Period:
        """ "Since May" lasts until now; other words before a time leave it as it is."""
        if not re.match(r"since\b", match, re.IGNORECASE) and not _SINCE.search(before):
            return period
        start = self._latest(period).start if period.yearly else period.start
        return Period(start, max(self._now, start))

    def _latest(self, period: Period, *, is_over: bool = False) -> Period:
        """The last occurrence of a yearly period that has begun, or that has ended."""
        length = period.end - period.start
        for year in range(self._today.year, self._today.year - 9, -1):  # 29 February may take 8
            start = day_or_none(year, period.start.month, period.start.day)
            if start and (start + length if is_over else start) <= self._now:
                return Period(start, start + length)
        raise ValueError("no such day in the last years")

    def _forms(
        self,
    ) -> tuple[tuple[re.Pattern[str], _Meaning], ...]:
        return (
            (_ISO, lambda m: self._named(m["year"], int(m["month"]), m["day"])),
            (_DAY_MONTH, lambda m: self._named(m["year"], _month(m), m["day"])),
            (_MONTH_DAY, lambda m: self._named(m["year"], _month(m), m["day"])),
            (_LAST_MONTH_NAME, self._last_month_name),
            (_MONTH_ONLY, self._month_only),
            (_SEASON, self._season),
            (_AGO, self._ago),
            (_PAST, self._past),
            (_RELATIVE, self._relative),
            (_LAST_WEEKDAY, self._weekday),
            (_NIGHTS, self._night),
            (_YEAR_ONLY, lambda m: self._span(int(m["year"]), 1, 12)),
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
        return self._latest(self._named(None, _month(match), None), is_over=True)

    def _month_only(self, match: re.Match[str]) -> Period | None:
        # "may" and "march" are verbs too, and some people are called April or June.
        if not (match["year"] or match["lead"]):
            return None
        return self._named(match["year"], _month(match), None)

    def _season(self, match: re.Match[str]) -> Period | None:
        # "fall" and "spring" are verbs too.
        if not (match["year"] or match["lead"]):
            return None
        month = _SEASONS[match["season"].lower().replace("fall", "autumn")]
        year = int(match["year"]) if match["year"] else 2000
        found = self._span(year, month, 3)
        if match["year"]:
            return found
        yearly = Period(found.start, found.end, yearly=True)
        is_last = (match["lead"] or "").lower() == "last"
        return self._latest(yearly, is_over=True) if is_last else yearly

    def _ago(self, match: re.Match[str]) -> Period:
        unit = _UNIT_DAYS[match["unit"].lower()]
        middle = self._today - timedelta(days=unit * _count(match))
        # "Three weeks ago" is no day: half a unit to either side.
        return Period(middle - timedelta(days=unit // 2), middle + timedelta(days=unit // 2 + 1))

    def _past(self, match: re.Match[str]) -> Period:
        days = _UNIT_DAYS[match["unit"].lower()] * _count(match)
        return Period(self._today - timedelta(days=days), self._now)

    def _relative(self, match: re.Match[str]) -> Period:
        back = 0 if match["which"].lower() == "this" else 1
        unit = match["unit"].lower()
        monday = self._today - timedelta(days=self._today.weekday())
        if unit == "year":
            return self._span(self._today.year - back, 1, 12)
        if unit == "month":
            months = self._today.year * 12 + self._today.month - 1 - back
            return self._span(months // 12, months % 12 + 1, 1)
        start = monday - timedelta(weeks=back)
        if unit == "weekend":
            start += timedelta(days=5)
            return Period(start, start + timedelta(days=2))
        return Period(start, start + timedelta(weeks=1))

    def _weekday(self, match: re.Match[str]) -> Period:
        back = (self._today.weekday() - WEEKDAYS[match["weekday"].lower()] - 1) % 7 + 1
        start = self._today - timedelta(days=back)
        return Period(start, start + timedelta(days=1))

    def _night(self, match: re.Match[str]) -> Period:
        words = match[0].lower()
        back = 2 if "before" in words else int(words in {"yesterday", "last night"})
        start = self._today - timedelta(days=back)
        return Period(start, start + timedelta(days=1))


def _month(match: re.Match[str]) -> int:
    return MONTHS[match["name"].lower()]


def _count(match: re.Match[str]) -> int:
    word = match["count"].lower()
    return int(word) if word.isdigit() else _NUMBERS[word]


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE)


_SINCE = re.compile(r"\bsince\s+(?:the\s+)?$", re.IGNORECASE)
_ISO = _pattern(rf"\b(?P<year>{_YEAR})-(?P<month>\d\d)(?:-(?P<day>\d\d))?\b")
_DAY_MONTH = _pattern(
    rf"\b(?P<day>\d{{1,2}}){_ORDINAL}\s+(?:of\s+)?(?P<name>{_MONTH})\b(?:,?\s+(?P<year>{_YEAR})\b)?"
)
_MONTH_DAY = _pattern(
    rf"\b(?P<name>{_MONTH})\s+(?P<day>\d{{1,2}}){_ORDINAL}\b(?:,?\s+(?P<year>{_YEAR})\b)?"
)
_LAST_MONTH_NAME = _pattern(rf"\blast\s+(?P<name>{_MONTH})\b")
_MONTH_ONLY = _pattern(
    r"(?P<lead>\b(?:in|during|since|until|till|by|before|after|of|from|early|late|mid|this)\s+)?"
    rf"\b(?P<name>{_MONTH})\b(?:,?\s+(?:of\s+)?(?P<year>{_YEAR})\b)?"
)
_SEASON = _pattern(
    r"\b(?:(?P<lead>last|this|the|in|during)\s+)?(?P<season>spring|summer|autumn|winter|fall)\b"
    rf"(?:\s+(?:of\s+)?(?P<year>{_YEAR})\b)?"
)
_AGO = _pattern(
    rf"\b(?P<count>{_NUMBER})\s+(?:of\s+)?(?P<unit>day|week|fortnight|month|year)s?\s+(?:ago|back)\b"
)
_PAST = _pattern(
    rf"\b(?:last|past|previous)\s+(?P<count>{_NUMBER})\s+(?P<unit>day|week|fortnight|month|year)s?\b"
)
_RELATIVE = _pattern(r"\b(?P<which>last|past|previous|this)\s+(?P<unit>weekend|week|month|year)\b")
_LAST_WEEKDAY = _pattern(rf"\b(?:last|on|since)\s+(?P<weekday>{'|'.join(WEEKDAYS)})\b")
_NIGHTS = _pattern(r"\b(?:the day before yesterday|yesterday|last night|today|tonight)\b")
_YEAR_ONLY = _pattern(
    rf"\b(?:in|during|since|until|by|before|after|of|from|year)\s+(?P<year>{_YEAR})\b"
)
