"""Dates by their names: "May 3rd", "in May", "summer 2025", "Q3 2026", "Friday", "Easter"."""

from __future__ import annotations

from typing import Final

from memory.domain.text.calendar import Clock, Span
from memory.domain.text.date_types import DateTokens

from .calendar import (
    AMBIGUOUS_NAMES,
    FIXED_HOLIDAYS,
    HOLIDAYS,
    MONTHS,
    SEASONS,
    SHORT_WEEKDAYS,
    WEEKDAYS,
    holiday_span,
    iso_week,
    months_from,
)
from .date_types import Grain, NamedTime
from .number_dates import LEADS, RANGE_WORDS, day_in_month, day_number, year_number
from .numbers import ORDINALS

HOLIDAY_STARTS: Final = frozenset(name.split()[0] for name in HOLIDAYS)
_SEASON_LEADS = LEADS | {"the", "that", "every", "each"}
_BREAKS = frozenset({"holiday", "holidays", "break", "vacation", "term", "semester", "season"})
_NO_DAY_BEFORE = frozenset({"a", "an", "any", "some", "most", "black", "palm", "ash", "cyber"})
_NO_NAME_AFTER = frozenset({"'", "%"})


def read_month_date(tokens: DateTokens, at: int, clock: Clock) -> NamedTime | None:
    """ "May 3rd, 2026", "May 3 to 7", "May 2026", "in May"."""
    end = at + 1 + (tokens.word(at + 1) == "." and tokens.is_joined(at + 1))
    start = end + (tokens.word(end) == "the")
    day, after = day_number(tokens, start)
    if day:
        last = day
        if tokens.word(after) in RANGE_WORDS:
            until, beyond = day_number(tokens, after + 1)
            if until >= day and tokens.word(beyond) not in MONTHS:
                last, after = until, beyond
        return day_in_month(tokens, at, clock, day=day, last=last, month_at=at, end=after)
    month = MONTHS[tokens.word(at)]
    year, after = year_number(tokens, end, clock)
    if year:
        return NamedTime(at, after, *months_from(year, month, 1), Grain.MONTH)
    if not _is_month_name(tokens, at):
        return None
    return NamedTime(
        at, at + 1, *clock.in_year(month, None), Grain.MONTH, relative=True, yearless=True
    )


def _is_month_name(tokens: DateTokens, at: int) -> bool:
    """Whether a word like "May" or "march" means the month here."""
    word, before = tokens.word(at), tokens.word(at - 1)
    if before == "-":
        before = tokens.word(at - 2)
    if tokens.word(at + 1) in _NO_NAME_AFTER or before.isdecimal():
        return False
    if before in LEADS:
        return tokens.is_capital(at) or before not in {"this", "to", "on", "of", "for"}
    return word not in AMBIGUOUS_NAMES and tokens.is_capital(at) and len(word) > 3


def read_season(tokens: DateTokens, at: int, clock: Clock) -> NamedTime | None:
    """ "The summer of 2021", "in spring"."""
    month = SEASONS[tokens.word(at)]
    end = at + 1 + (tokens.word(at + 1) in _BREAKS)
    year, after = year_number(tokens, end, clock)
    if year:
        return NamedTime(at, after, *months_from(year, month, 3), Grain.SEASON)
    if tokens.word(at - 1) not in _SEASON_LEADS:
        return None
    span = clock.in_year(month, None, months=3)
    return NamedTime(at, end, *span, Grain.SEASON, relative=True, yearless=True)


def read_holiday(tokens: DateTokens, at: int, clock: Clock) -> NamedTime | None:
    """ "Christmas Eve", "Easter 2025"."""
    name = holiday_name(tokens, at)
    if not name:
        return None
    end = at + len(name.split())
    year, after = year_number(tokens, end, clock)
    if year:
        return NamedTime(at, after, *holiday_span(name, year), Grain.DAY)
    is_fixed = name in FIXED_HOLIDAYS
    return NamedTime(at, end, *clock.holiday(name), Grain.DAY, relative=True, yearless=is_fixed)


def holiday_name(tokens: DateTokens, at: int) -> str:
    """The longest name of a holiday that stands there, or nothing."""
    if tokens.word(at) not in HOLIDAY_STARTS:
        return ""
    two = f"{tokens.word(at)} {tokens.word(at + 1)}"
    three = f"{two} {tokens.word(at + 2)}"
    return next((name for name in (three, two, tokens.word(at)) if name in HOLIDAYS), "")


def read_numbered(tokens: DateTokens, at: int, clock: Clock) -> NamedTime | None:
    """ "Q3 2026", "H1", "calendar week 23", "week 23 of 2025", "the third quarter"."""
    word, number = tokens.word(at), tokens.number(at + 1)
    if word in ORDINALS and tokens.word(at + 1) == "quarter" and tokens.word(at - 1) == "the":
        word, number = "q", ORDINALS[word]
    elif word == "calendar" and tokens.word(at + 1) == "week":
        number = tokens.number(at + 2)
        return None if number is None else _week(tokens, at, at + 3, number, clock)
    if number is None:
        return None
    if word in {"week", "cw", "kw"}:
        return _week(tokens, at, at + 2, number, clock)
    if not 1 <= number <= {"q": 4, "h": 2}.get(word, 0) or not (
        tokens.is_joined(at + 1) or tokens.word(at + 1) == "quarter"
    ):
        return None
    months = 3 if word == "q" else 6
    grain = Grain.QUARTER if word == "q" else Grain.SEASON
    year, after = year_number(tokens, at + 2, clock)
    month = months * (number - 1) + 1
    if year:
        return NamedTime(at, after, *months_from(year, month, months), grain)
    span: Span = clock.in_year(month, None, months=months)
    return NamedTime(at, at + 2, *span, grain, relative=True, yearless=True)


def _week(tokens: DateTokens, at: int, end: int, number: int, clock: Clock) -> NamedTime | None:
    year, after = year_number(tokens, end, clock)
    if not year and tokens.word(end) == "of":
        return None
    span = iso_week(year or clock.now.year, number)
    return NamedTime(at, after if year else end, *span, Grain.WEEK, relative=not year)


def weekday_number(tokens: DateTokens, at: int) -> int | None:
    """The number of the weekday that a token names, in full or shortened; Monday is 0."""
    word = tokens.word(at)
    if word in WEEKDAYS:
        return None if tokens.word(at - 1) in _NO_DAY_BEFORE else WEEKDAYS[word]
    if word not in SHORT_WEEKDAYS or not tokens.is_capital(at):
        return None
    is_sure = (
        tokens.number(at + 1) is not None
        or tokens.word(at + 1) == "-"
        or not tokens.begins_sentence(at)
    )
    is_range = tokens.word(at + 1) == "-" and tokens.word(at + 2) in SHORT_WEEKDAYS
    is_name = tokens.word(at + 1) in {"'", "-"} and tokens.is_joined(at + 1) and not is_range
    return SHORT_WEEKDAYS[word] if is_sure and not is_name else None
