"""Times made of other times: parts, offsets, ranges, years told apart, and hours of the day."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from memory.domain.text.calendar import (
    DAY,
    UNITS,
    WEEK,
    Clock,
    DateTokens,
    Grain,
    Lean,
    NamedTime,
    Span,
    days_from,
)
from memory.domain.text.words import ORDINALS, QUANTIFIERS, number_value

from .calendar import PARTS_OF_DAY, WEEKDAYS
from .number_dates import day_number

Read = Callable[[int, Lean | None], NamedTime | None]
"""Reads the time at a token, leaning another way where that is given."""

_THIRDS = {"early": 0, "start": 0, "beginning": 0, "mid": 1, "middle": 1, "late": 2, "end": 2}
_OF_PARTS = frozenset({"start", "beginning", "middle", "end"})
_AROUND = frozenset({"week", "weekend", "night", "morning", "evening"})
_OFFSETS = frozenset({*UNITS, *(f"{unit}s" for unit in UNITS), "weekend", *WEEKDAYS})
_THIS = frozenset({"week", "weekend", "month", "quarter", "year"})
OPENERS: Final = frozenset(
    {*_THIRDS, *_AROUND, *_OFFSETS, *QUANTIFIERS, "earlier", "later", "so", "first", "second"}
    | {"third", "fourth", "last", "next", "noon", "midday", "midnight", "at"}
)


def read_part(tokens: DateTokens, at: int, clock: Clock, read: Read) -> NamedTime | None:
    """A part of a time, or the time so long before or after one, beginning at a token."""
    word = tokens.word(at)
    if word.isdecimal() or word in _OFFSETS or word in QUANTIFIERS or number_value(word):
        found = _offset(tokens, at, read)
        if found:
            return found
    if word in {"last", "next"} and tokens.word(at + 1) in _OFFSETS:
        found = _offset(tokens, at + 1, read)
        if found:
            return replace(found, at=at)
    if word in _THIRDS:
        return _third(tokens, at, clock, read)
    if word in {"earlier", "later", "so"}:
        return _up_to_now(tokens, at, clock, read)
    if word in ORDINALS or word == "last":
        found = _nth(tokens, at, clock, read)
        if found:
            return found
    if word in _AROUND and tokens.word(at + 1) == "of":
        return _around(tokens, at, clock, read)
    day, after = day_number(tokens, at)
    if day and tokens.word(after) == "of" and tokens.word(at - 1) == "the":
        return _day_of(tokens, at, after, day, clock, read)
    return None


def _start(tokens: DateTokens, at: int) -> int:
    return at - (tokens.word(at - 1) == "the")


def _behind(
    tokens: DateTokens, at: int, clock: Clock, read: Read, lean: Lean | None = None
) -> NamedTime | None:
    """The time behind "of": one that is named, or "the month", which is the present one."""
    is_the = tokens.word(at) == "the"
    unit = tokens.word(at + is_the)
    if is_the and unit in _THIS:
        grain = Grain.WEEKEND if unit == "weekend" else UNITS[unit][0]
        return NamedTime(at, at + 2, *clock.unit(unit, 0), grain, relative=True)
    return read(at + is_the, lean)


def _third(tokens: DateTokens, at: int, clock: Clock, read: Read) -> NamedTime | None:
    """ "Early 2024", "mid-May", "the end of last month"."""
    word = tokens.word(at)
    place = at + 1 + (tokens.word(at + 1) in {"-", "of", "in"})
    if word in _OF_PARTS and tokens.word(at + 1) != "of":
        return None
    whole = _behind(tokens, place, clock, read)
    if whole is None or whole.grain < Grain.WEEK:
        return None
    first, last = third_of(whole.first, whole.last, _THIRDS[word])
    return replace(whole, at=_start(tokens, at), first=first, last=last, rough=True)


def third_of(first: datetime, last: datetime, place: int) -> Span:
    """The first, middle or last third of a time in whole days, one day at least."""
    third = (last - first) / 3
    start = days_from(first + place * third)[0]
    return start, max(days_from(first + (place + 1) * third)[0], start + DAY)


def _up_to_now(tokens: DateTokens, at: int, clock: Clock, read: Read) -> NamedTime | None:
    """ "So far this year", "earlier this week", "later today"."""
    word = tokens.word(at)
    if word == "so" and tokens.word(at + 1) != "far":
        return None
    whole = read(at + (2 if word == "so" else 1), None)
    if whole is None or not whole.first <= clock.now < whole.last:
        return None
    if word == "later":
        return replace(whole, at=at, first=clock.now)
    return replace(whole, at=at, last=clock.now)


def _nth(tokens: DateTokens, at: int, clock: Clock, read: Read) -> NamedTime | None:
    """ "The first week of May", "the second half of 2025", "the last Friday of June"."""
    unit = tokens.word(at + 1)
    if tokens.word(at + 2) not in {"of", "in"} or unit not in {
        "half",
        "week",
        "weekend",
        *WEEKDAYS,
    }:
        return None
    whole = _behind(tokens, at + 3, clock, read)
    is_monthly = tokens.word(at + 3) == "the" and tokens.word(at + 4) == "month"
    if whole is None or whole.grain < Grain.MONTH:
        return None
    nth = ORDINALS.get(tokens.word(at), 0)
    first, last = nth_of(whole.first, whole.last, nth, unit)
    grain = whole.grain if unit == "half" else Grain.WEEK if unit == "week" else Grain.DAY
    return replace(
        whole,
        at=_start(tokens, at),
        first=first,
        last=last,
        grain=Grain.WEEKEND if unit == "weekend" else grain,
        yearless=whole.yearless and unit not in WEEKDAYS and unit != "weekend",
        recurring="monthly" if is_monthly else whole.recurring,
        weekday=WEEKDAYS.get(unit),
    )


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


def _around(tokens: DateTokens, at: int, clock: Clock, read: Read) -> NamedTime | None:
    """ "The week of May 11", "the weekend of 6 June", "the evening of 6 June"."""
    lean: Lean | None = None if clock.lean == "future" else "nearest"
    day = _behind(tokens, at + 2, clock, read, lean)
    if day is None or day.grain > Grain.WEEK:
        return None
    word = tokens.word(at)
    monday = day.first - day.first.weekday() * DAY
    start = _start(tokens, at)
    if word == "week":
        return replace(
            day, at=start, first=monday, last=monday + WEEK, grain=Grain.WEEK, yearless=False
        )
    if word == "weekend":
        first, last = monday + 5 * DAY, monday + WEEK
        return replace(day, at=start, first=first, last=last, grain=Grain.WEEKEND, yearless=False)
    first_hour, last_hour = PARTS_OF_DAY[word]
    first, last = day.first + timedelta(hours=first_hour), day.first + timedelta(hours=last_hour)
    return replace(day, at=start, first=first, last=last, grain=Grain.HOUR, yearless=False)


def _day_of(
    tokens: DateTokens, at: int, after: int, day: int, clock: Clock, read: Read
) -> NamedTime | None:
    """ "The 14th of last month"."""
    whole = _behind(tokens, after + 1, clock, read)
    if whole is None or whole.grain is not Grain.MONTH or whole.recurring:
        return None
    first, last = days_from(whole.first.replace(day=day))
    return replace(whole, at=at - 1, first=first, last=last, grain=Grain.DAY)


def _offset(tokens: DateTokens, at: int, read: Read) -> NamedTime | None:
    """ "The week before 3 May", "two weeks after Christmas", "the day before yesterday"."""
    count, place = _count(tokens, at)
    unit = tokens.word(place)
    if unit not in _OFFSETS or tokens.word(place + 1) not in {"before", "after"}:
        if unit not in _OFFSETS or not tokens.has(place + 1, "leading", "up", "to"):
            return None
        sign, behind = -1, place + 4
    else:
        sign, behind = (-1 if tokens.word(place + 1) == "before" else 1), place + 2
    base = read(behind + (tokens.word(behind) == "the"), None)
    if base is None or base.recurring:
        return None
    edge = base.first if sign < 0 else base.last
    unit = unit if unit in WEEKDAYS or unit == "weekend" else unit.removesuffix("s")
    span, grain = _away(edge, sign, unit, count)
    return replace(
        base, at=_start(tokens, at), first=span[0], last=span[1], grain=grain, relative=True,
        yearless=False,
    )  # fmt: skip


def _away(edge: datetime, sign: int, unit: str, count: int | None) -> tuple[Span, Grain]:
    if unit in WEEKDAYS or unit == "weekend":
        wanted = WEEKDAYS.get(unit, 5)
        start = edge - DAY if sign < 0 else edge
        start += sign * (sign * (wanted - start.weekday()) % 7) * DAY
        days = 2 if unit == "weekend" else 1
        return (start, start + days * DAY), Grain.WEEKEND if days == 2 else Grain.DAY
    grain, days = UNITS[unit]
    width = days * DAY
    if count is None:
        return ((edge - width, edge) if sign < 0 else (edge, edge + width)), grain
    middle = edge + sign * count * width - (DAY if sign > 0 else timedelta(0))
    half = (days - 1) // 2 * DAY
    return (middle - half, middle + half + DAY), grain


def _count(tokens: DateTokens, at: int) -> tuple[int | None, int]:
    word = tokens.word(at)
    if word == "a" and tokens.word(at + 1) in QUANTIFIERS:
        word, at = tokens.word(at + 1), at + 1
    value = QUANTIFIERS.get(word) or (
        number_value(word) if len(word) < 4 or word.isalpha() else None
    )
    return (value, at + 1 + (tokens.word(at + 1) == "of")) if value else (None, at)


def in_year_of(fine: NamedTime, coarse: NamedTime) -> NamedTime | None:
    """The one time that a yearless and a longer one beside it mean ("March last year")."""
    if not fine.yearless or coarse.grain is not Grain.YEAR:
        return None
    middle = coarse.first + (coarse.last - coarse.first) / 2
    try:
        start = fine.first.replace(year=middle.year)
    except ValueError:
        return None
    at, to = min(fine.at, coarse.at), max(fine.to, coarse.to)
    length = fine.last - fine.first
    if fine.grain is Grain.MONTH:
        length = days_from(start.replace(day=28) + 4 * DAY)[0].replace(day=1) - start
    if coarse.recurring:
        return replace(fine, at=at, to=to, recurring="yearly")
    return replace(fine, at=at, to=to, first=start, last=start + length, yearless=False)


def from_to(first: NamedTime, second: NamedTime) -> NamedTime:
    """From the beginning of the one time to the end of the other."""
    start, end = first.first, second.last
    if first.yearless and start.year != end.year and not second.yearless:
        start = start.replace(
            year=end.year, day=min(start.day, 28) if start.month == 2 else start.day
        )
    if first.yearless and start >= end:
        start = start.replace(year=end.year - (start.replace(year=end.year) >= end))
    elif first.yearless and second.yearless and end - start > timedelta(days=366):
        start = start.replace(year=start.year + 1)
    if (start >= end and first.weekday is not None) or end < start < end + WEEK:
        start -= WEEK
    return replace(
        second,
        at=first.at,
        first=min(start, end),
        last=end,
        grain=max(first.grain, second.grain),
        yearless=first.yearless and second.yearless,
        # The year of the end is that of the beginning too.
        relative=second.relative or (first.relative and not first.yearless),
        weekday=None,
        alternative=None,
    )
