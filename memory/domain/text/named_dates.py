"""Dates that are named or counted in words."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from dateutil.relativedelta import relativedelta

from memory.domain.text.calendar import (
    AMBIGUOUS_NAMES,
    DAY,
    FIXED_HOLIDAYS,
    HOLIDAYS,
    HOURS,
    MONTHS,
    SEASONS,
    SHORT_WEEKDAYS,
    UNITS,
    WEEK,
    WEEKDAYS,
    Clock,
    DateTokens,
    Grain,
    NamedTime,
    Span,
    days_from,
    holiday_span,
    iso_week,
    months_from,
)
from memory.domain.text.calendar import months_from as months_span
from memory.domain.text.number_dates import (
    LEADS,
    RANGE_WORDS,
    day_in_month,
    day_number,
    year_number,
)
from memory.domain.text.words import ORDINALS, QUANTIFIERS, TENS, number_value

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


NEAR_DAYS: Final = {"today": 0, "tonight": 0, "yesterday": -1, "tomorrow": 1}


def read_count(tokens: DateTokens, at: int, clock: Clock) -> NamedTime | None:
    """ "Two weeks ago", "a week from tomorrow", "two Fridays ago", "half a year ago"."""
    is_ahead = tokens.word(at) == "in"
    counted = count_of(tokens, at + is_ahead)
    if counted is None:
        return None
    count, end = counted
    word = singular(tokens.word(end))
    if is_ahead:
        return _ahead(tokens, at, end, count, clock)
    direction, after = _direction(tokens, end + 1)
    if not direction:
        return None
    if word in HOURS and direction:
        moment = clock.now + direction * timedelta(hours=count * HOURS[word])
        grain = Grain.HOUR if word == "hour" else Grain.MINUTE
        return time_at(at, after, (moment, moment + timedelta(minutes=1)), grain)
    if word in WEEKDAYS and direction < 0:
        first, last = clock.weekday(WEEKDAYS[word], "past")
        back = (int(count) - 1) * WEEK
        return time_at(at, after, (first - back, last - back), Grain.DAY)
    if word in SEASONS and direction < 0:
        first, _ = clock.last_over(SEASONS[word], 3)
        return time_at(
            at, after, months_span(first.year - int(count) + 1, first.month, 3), Grain.SEASON
        )
    if word not in UNITS:
        return None
    from_day = _day_said(tokens, after, clock, is_ahead=direction > 0)
    if from_day:
        start, after = from_day
        day = clock.today + start * DAY
        if count == int(count):
            return time_at(
                at, after, days_from(same_day(day, word, direction * int(count))), Grain.DAY
            )
        half = int(UNITS[word][1] * count)
        return time_at(at, after, days_from(day + direction * half * DAY), Grain.DAY)
    if direction > 0 and tokens.word(after - 1) not in {"now", "today"}:
        return None
    return _around(at, after, direction * count, word, clock)


def _ahead(tokens: DateTokens, at: int, end: int, count: float, clock: Clock) -> NamedTime | None:
    """ "In two weeks", "in a month's time"."""
    unit = singular(tokens.word(end))
    after = end + 1 + (tokens.word(end + 1) == "'")
    after += tokens.word(after) == "time"
    if tokens.word(after) in {"of", "or", "per"}:
        return None
    if unit in HOURS:
        moment = clock.now + timedelta(hours=count * HOURS[unit])
        return time_at(at, after, (moment, moment + timedelta(minutes=1)), Grain.HOUR)
    return _around(at, after, count, unit, clock) if unit in UNITS else None


def _around(at: int, to: int, count: float, unit: str, clock: Clock) -> NamedTime:
    grain, days = UNITS[unit]
    found = time_at(at, to, clock.around(int(days * count)), grain)
    return replace(found, rough=found.last - found.first > DAY)


def _day_said(
    tokens: DateTokens, at: int, clock: Clock, *, is_ahead: bool
) -> tuple[int, int] | None:
    """How many days from today the day lies that is told behind "ago" or "from"."""
    at += tokens.word(at) == ","
    if is_ahead and tokens.word(at - 1) in NEAR_DAYS:
        return NEAR_DAYS[tokens.word(at - 1)], at
    if is_ahead and tokens.word(at - 1) in WEEKDAYS:
        day, _ = clock.weekday(WEEKDAYS[tokens.word(at - 1)], "future")
        return (day - clock.today).days, at
    if tokens.word(at) in NEAR_DAYS:
        return NEAR_DAYS[tokens.word(at)], at + 1
    return (0, at + 3) if tokens.has(at, "to", "the", "day") else None


def _direction(tokens: DateTokens, at: int) -> tuple[int, int]:
    """Behind a count of units: -1 for "ago", 1 for "from now", 0 for neither; and the end."""
    word = tokens.word(at)
    if word in {"ago", "back"}:
        return -1, at + 1
    following = tokens.word(at + 1)
    if word == "from" and (following == "now" or following in NEAR_DAYS or following in WEEKDAYS):
        return 1, at + 2
    return 0, at


def units_ago(tokens: DateTokens, at: int) -> tuple[str, int, int] | None:
    """The unit, the count below zero and the end of "two weeks ago"; None for other words."""
    counted = count_of(tokens, at)
    if counted is None:
        return None
    count, end = counted
    unit = singular(tokens.word(end))
    direction, after = _direction(tokens, end + 1)
    return (unit, -int(count), after) if unit in UNITS and direction < 0 else None


def count_of(tokens: DateTokens, at: int) -> tuple[float, int] | None:
    """A count ("3", "a couple of", "half a", "a dozen") with the place behind it."""
    word = tokens.word(at)
    if word == "half" and tokens.word(at + 1) in {"a", "an"}:
        return 0.5, at + 2
    if word == "a" and tokens.word(at + 1) in QUANTIFIERS:
        word, at = tokens.word(at + 1), at + 1
    if word in TENS and tokens.word(at + 1) == "-":
        word, at = f"{word}-{tokens.word(at + 2)}", at + 2
    value = QUANTIFIERS.get(word) or number_value(word)
    return (float(value), at + 1 + (tokens.word(at + 1) == "of")) if value else None


def singular(word: str) -> str:
    """A word without its final s."""
    return word.removesuffix("s")


def same_day(day: datetime, unit: str, count: int) -> datetime:
    """The same day of the calendar so many units later, or earlier below zero."""
    if unit in {"month", "quarter", "year", "decade"}:
        months = {"month": 1, "quarter": 3, "year": 12, "decade": 120}[unit]
        return day + relativedelta(months=count * months)
    return day + count * UNITS[unit][1] * DAY


def time_at(at: int, to: int, span: Span, grain: Grain, weekday: int | None = None) -> NamedTime:
    """A time between two tokens that the anchor was needed for."""
    return NamedTime(at, to, *span, grain, relative=True, weekday=weekday)
