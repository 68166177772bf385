"""Times so many units away: "two weeks ago", "in a month's time", "a week from tomorrow"."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from memory.domain.text.calendar import (
    DAY,
    HOURS,
    UNITS,
    WEEK,
    Clock,
    Span,
    days_from,
    shifted_months,
)
from memory.domain.text.calendar import months_from as months_span
from memory.domain.text.date_types import DateTokens

from .calendar import SEASONS, WEEKDAYS
from .date_types import Grain, NamedTime
from .numbers import QUANTIFIERS, TENS, number_value

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
        return shifted_months(day, count * months)
    return day + count * UNITS[unit][1] * DAY


def time_at(at: int, to: int, span: Span, grain: Grain, weekday: int | None = None) -> NamedTime:
    """A time between two tokens that the anchor was needed for."""
    return NamedTime(at, to, *span, grain, relative=True, weekday=weekday)
