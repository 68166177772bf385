"""Dates, weekdays, years and times of day in a token list, in digits and words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from typing import NamedTuple

from ...number_words import ONES, ORDINALS, TENS
from . import feasts
from .hours import is_in_range, lower_at, small_number
from .tables import words
from .tokens import Token
from .units import CURRENCIES, MONTHS, UNITS, WEEKDAYS, ZONES

_ISO = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})\Z")
_DOTTED = re.compile(r"(\d{1,2})[./](\d{1,2})[./](\d{4})\Z")
_CLOCK = re.compile(r"(\d{1,2})[:h](\d{2})(am|pm)?\Z")
_HOUR = re.compile(r"(\d{1,2})(?:[.](\d{2}))?(am|pm)\Z")
_DAY = re.compile(r"(\d{1,2})(?:st|nd|rd|th)?\Z")
_YEAR = re.compile(r"(?:1[5-9]|20)\d{2}\Z")
_QUARTER = re.compile(r"q([1-4])\Z")
_YEAR_LEADS = words(
    "in since of until till by before after during from late early mid around through for"
)
_NAMED_CLOCKS = {"noon": 720, "midday": 720, "midnight": 0}
OPENERS = frozenset({*_NAMED_CLOCKS, *MONTHS, *WEEKDAYS, *feasts.OPENERS})
"""Words other than numbers that a moment can begin with; a month may have "mid-" before it."""


class Moment(NamedTuple):
    """A point of the calendar or the clock that ends before token `end`.

    `parts` are year, month and day, 0 where unsaid; a clock's value is minutes of the day.
    """

    kind: str
    value: float
    end: int
    parts: tuple[int, int, int] = (0, 0, 0)


def moment_at(tokens: Sequence[Token], i: int) -> Moment | None:
    """The date, weekday, quarter, year or time of day that starts at token `i`."""
    return _clock(tokens, i) or _date(tokens, i)


def _clock(tokens: Sequence[Token], i: int) -> Moment | None:
    word, following = lower_at(tokens, i), lower_at(tokens, i + 1)
    if word in _NAMED_CLOCKS:
        return Moment("clock", float(_NAMED_CLOCKS[word]), i + 1)
    match = _CLOCK.match(word) or _HOUR.match(word)
    if match:
        half, end = match[3], i + 1
        if half is None and following in {"am", "pm", "a.m", "p.m"}:
            half, end = following.replace(".", ""), i + 2
        if lower_at(tokens, end) in ZONES:
            end += 1
        return _minutes(int(match[1]), int(match[2] or 0), half, end)
    if following in {"to", "past"} and lower_at(tokens, i + 2) in ONES:
        minutes = _minutes_word(word)
        if minutes is not None:
            shift = minutes if following == "past" else -minutes
            half = "pm" if lower_at(tokens, i + 5) in {"evening", "afternoon"} else None
            found = _minutes(ONES[lower_at(tokens, i + 2)], 0, half, i + 3)
            return found and found._replace(value=(found.value + shift) % 1440)
    if following in {"am", "pm", "a.m", "p.m", "o'clock", "sharp"}:
        hour = small_number(word)
        if hour is not None:
            half = following.replace(".", "") if following[0] in "ap" else None
            return _minutes(hour, 0, half, i + 2)
    if word in {"half", "quarter"} and following in {"past", "to"}:
        hour = small_number(lower_at(tokens, i + 2))
        if hour is not None:
            shift = 30 if word == "half" else 15 if following == "past" else -15
            return Moment("clock", float((60 * hour + shift) % 1440), i + 3)
    return _bare_hour(tokens, i)


_DAY_PARTS = {"evening": "pm", "afternoon": "pm", "morning": "am", "night": "pm"}


def _bare_hour(tokens: Sequence[Token], i: int) -> Moment | None:
    """ "at six", "opens at 8", "six in the evening": an hour without its minutes."""
    hour = small_number(lower_at(tokens, i))
    if hour is None or not 1 <= hour <= 24:
        return None
    following = [lower_at(tokens, j) for j in range(i + 1, i + 4)]
    if following[0] == "in" and following[1] == "the" and following[2] in _DAY_PARTS:
        return _minutes(hour, 0, _DAY_PARTS[following[2]], i + 4)
    before = lower_at(tokens, i - 1) if i else ""
    ends = i + 1 >= len(tokens) or tokens[i + 1].separator or following[0] in {
        "on", "in", "every", "sharp", "and", "to", "until", "from", "instead",
    }  # fmt: skip
    if is_in_range(tokens, i):
        return _minutes(hour, 0, None, i + 1)
    verb = lower_at(tokens, i - 2) if i > 1 else ""
    if ends and (before == "at" or (before in {"to", "until", "till"} and verb in _CLOCK_VERBS)):
        return _minutes(hour, 0, None, i + 1)
    return None


_CLOCK_VERBS = words("shifted moved open opens from brought back forward changed")


def _minutes(hour: int, minute: int, half: str | None, end: int) -> Moment | None:
    if hour > 24 or minute > 59:
        return None
    if half == "pm" and hour < 12:
        hour += 12
    if half == "am" and hour == 12:
        hour = 0
    return Moment("clock", float((60 * hour + minute) % 1440), end)


def _minutes_word(word: str) -> int | None:
    number = {"five": 5, "ten": 10, "twenty": 20, "twenty-five": 25}.get(word)
    return number if number is not None else {"5": 5, "10": 10, "20": 20, "25": 25}.get(word)


def _day_number(word: str) -> int | None:
    match = _DAY.match(word)
    if match:
        day = int(match[1])
        return day if 1 <= day <= 31 else None
    if word in ORDINALS:
        return ORDINALS[word]
    ten, dash, one = word.partition("-")
    if dash and ten in TENS and one in ORDINALS:
        return TENS[ten] + ORDINALS[one]
    return None


def _date(tokens: Sequence[Token], i: int) -> Moment | None:
    word = lower_at(tokens, i)
    match = _ISO.match(word)
    if match:
        return _dated(int(match[1]), int(match[2]), int(match[3]), i + 1)
    feast = feasts.feast_at(tokens, i)
    if feast is not None:
        year, end = _year_after(tokens, feast[2])
        return Moment("date", 0.0, end, (year, feast[0], feast[1]))
    match = _DOTTED.match(word)
    if match:
        return _dated(int(match[3]), int(match[2]), int(match[1]), i + 1)
    match = _QUARTER.match(word)
    if match:
        year, end = _year_after(tokens, i + 1)
        return Moment("date", 0.0, end, (year, 20 + int(match[1]), 0))
    if word in WEEKDAYS:
        return _weekday(tokens, i)
    day = _day_number(word)
    if day is not None:
        j = i + 1
        if lower_at(tokens, j) == "of":
            j += 1
        month = _month(tokens, j)
        if month:
            year, end = _year_after(tokens, j + 1)
            return _dated(year, month, day, end)
    month = _month(tokens, i)
    if month:
        return _month_first(tokens, i, month)
    counted = (
        lower_at(tokens, i + 1).partition("/")[0] in UNITS or lower_at(tokens, i + 1) in CURRENCIES
    )
    if _YEAR.match(word) and not counted and (i == 0 or tokens[i - 1].lower in _YEAR_LEADS):
        return Moment("date", 0.0, i + 1, (int(word), 0, 0))
    return None


def _month(tokens: Sequence[Token], i: int) -> int:
    word = lower_at(tokens, i).rstrip(".")
    for part in ("mid-", "early-", "late-"):
        word = word.removeprefix(part)
    if word not in MONTHS or (word in {"may", "march", "mar", "dec"} and not tokens[i].capital):
        return 0
    return MONTHS[word]


def _month_first(tokens: Sequence[Token], i: int, month: int) -> Moment | None:
    j = i + 1
    if lower_at(tokens, j) == "the":
        j += 1
    day = _day_number(lower_at(tokens, j))
    if day is not None and lower_at(tokens, j) != "second":
        year, end = _year_after(tokens, j + 1)
        return _dated(year, month, day, end)
    if i == 0 and lower_at(tokens, i) in {"may", "march", "april", "june", "august"}:
        return None
    year, end = _year_after(tokens, i + 1)
    return Moment("date", 0.0, end, (year, month, 0))


def _year_after(tokens: Sequence[Token], i: int) -> tuple[int, int]:
    j = i + 1 if i < len(tokens) and tokens[i].lower == "," else i
    if _YEAR.match(lower_at(tokens, j)):
        return int(lower_at(tokens, j)), j + 1
    return 0, i


def _dated(year: int, month: int, day: int, end: int) -> Moment | None:
    if not 1 <= month <= 12 or not 1 <= day <= 31:
        return None
    return Moment("date", 0.0, end, (year, month, day))


def _weekday(tokens: Sequence[Token], i: int) -> Moment:
    """A weekday; one that a date follows belongs to that date."""
    j = i + 1
    while lower_at(tokens, j) in {",", "the"}:
        j += 1
    if j < len(tokens) and tokens[j].lower not in WEEKDAYS:
        dated = _date(tokens, j)
        if dated is not None and dated.parts[2]:
            return dated
    return Moment("weekday", float(WEEKDAYS[lower_at(tokens, i)]), i + 1)


def same_moment(
    kind_a: str,
    a: tuple[int, int, int],
    value_a: float,
    kind_b: str,
    b: tuple[int, int, int],
    value_b: float,
) -> bool:
    """Whether two dates or weekdays agree in all that both say."""
    if kind_a == kind_b == "weekday":
        return value_a == value_b
    if kind_a == kind_b:
        quarters = (a[1] > 20) != (b[1] > 20)
        if quarters:
            quarter, month = (a[1] - 20, b[1]) if a[1] > 20 else (b[1] - 20, a[1])
            return month == 0 or (month - 1) // 3 + 1 == quarter
        return all(x == y or x == 0 or y == 0 for x, y in zip(a, b, strict=True))
    day, weekday = (a, value_b) if kind_a == "date" else (b, value_a)
    if not all(day):
        return True
    try:
        return date(day[0], day[1], day[2]).weekday() == int(weekday)
    except ValueError:
        return False
