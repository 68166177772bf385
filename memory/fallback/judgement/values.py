"""Reads the numbers, amounts, dates, times of day and rates of a statement."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from memory.domain.text.calendar import MONTHS, WEEKDAYS
from memory.domain.text.numbers import ONES, ORDINALS, TENS

from ..tokens import Token

_UNITS_FILE = Path(__file__).parent.parent / "tables" / "units.txt"
_SCALES: Final = {"hundred": 100, "thousand": 1_000, "k": 1_000, "million": 10**6, "billion": 10**9}
_SCALES_ALONE: Final = {"dozen": 12, **_SCALES}
_SHARES: Final = {"half": 1 / 2, "third": 1 / 3, "quarter": 1 / 4, "fifth": 1 / 5, "tenth": 1 / 10}
_WEEKDAYS: Final = WEEKDAYS | {f"{name}s": number for name, number in WEEKDAYS.items()}
_RATES: Final = {
    "hourly": (1, "hour"),
    "daily": (1, "day"),
    "nightly": (1, "day"),
    "weekly": (1, "week"),
    "fortnightly": (1, "fortnight"),
    "monthly": (1, "month"),
    "quarterly": (1, "quarter"),
    "yearly": (1, "year"),
    "annually": (1, "year"),
}
_CLOCK_WORDS: Final = {"noon": 720, "midday": 720, "midnight": 0}
_DAY = re.compile(r"(\d{1,2})(?:st|nd|rd|th)?")
_FIGURE = re.compile(r"\d[\d,]*(?:\.\d+)?")
_DAYS_OF_MONTH, _HOURS = 31, 24
_YEARS = range(1900, 2101)
_CURRENCIES = frozenset({"€", "$", "£", "eur", "usd", "gbp", "chf"})
_BESIDE_HOUR = frozenset({"past", "to", "after"})
_PER = frozenset({"a", "per", "every", "each"})
# How far behind a number the noun that it counts may stand.
_REACH = 3


class Kind(StrEnum):
    """What a value measures; values of different kinds are never compared."""

    AMOUNT = "amount"
    COUNT = "count"
    IDENTIFIER = "identifier"
    DATE = "date"
    MONTH = "month"
    YEAR = "year"
    WEEKDAY = "weekday"
    CLOCK = "clock"
    RATE = "rate"


CALENDAR: Final = frozenset({Kind.DATE, Kind.MONTH, Kind.YEAR, Kind.WEEKDAY, Kind.CLOCK})


class Value(NamedTuple):
    """A value in the tokens `start` to `end`.

    `size` is in the smallest common unit of its kind and `dimension`: seconds, euros, minutes of
    the day, 100 * month + day. `head` is the stem of what is counted or named ("5 seats", "room
    5"), or "".
    """

    kind: Kind
    size: float
    dimension: str
    head: str
    start: int
    end: int

    def equals(self, other: Value) -> bool:
        """Whether both are one value of one kind and dimension; only fractions are rounded."""
        if self.kind != other.kind or self.dimension != other.dimension:
            return False
        if self.size % 1 == 0 == other.size % 1:
            return self.size == other.size
        return math.isclose(self.size, other.size, rel_tol=1e-6)


class _Unit(NamedTuple):
    dimension: str
    size: float


@cache
def _units() -> dict[str, _Unit]:
    found = {}
    for line in _UNITS_FILE.read_text(encoding="utf-8").splitlines():
        dimension, _, listed = line.partition(":")
        if line.startswith("#"):
            continue
        for entry in listed.split(","):
            name, size = entry.split()
            found[name] = _Unit(dimension, float(size))
    return found


def read_values(tokens: Sequence[Token], content: Sequence[bool]) -> tuple[Value, ...]:
    """The values in `tokens`, in order; `content` says which tokens carry meaning of their own."""
    return tuple(_Reader(tokens, content).read())


class _Reader:
    """One pass over the tokens; every step looks at a bounded number of them."""

    def __init__(self, tokens: Sequence[Token], content: Sequence[bool]) -> None:
        self._tokens = tokens
        self._content = content

    def read(self) -> list[Value]:
        found: list[Value] = []
        place = 0
        while place < len(self._tokens):
            values = self._values_at(place)
            for value in values:
                # "12 May": the month finds its day behind itself.
                while found and found[-1].end > value.start and found[-1] not in values:
                    found.pop()
                found.append(value)
            place = max(place + 1, *(value.end for value in values)) if values else place + 1
        return found

    def _lower(self, place: int) -> str:
        return self._tokens[place].lower if 0 <= place < len(self._tokens) else ""

    def _unit(self, place: int) -> _Unit | None:
        word = self._lower(place)
        found = _units().get(word)
        if found is None and len(word) > len("ms") and word.endswith("s"):
            found = _units().get(word[:-1])
        return found

    def _period(self, place: int) -> float:
        """The seconds of the unit of time at `place`, written out, or 0."""
        unit = self._unit(place)
        return unit.size if unit and unit.dimension == "time" and len(self._lower(place)) > 2 else 0

    def _values_at(self, place: int) -> list[Value]:
        token, word = self._tokens[place], self._lower(place)
        if token.is_number and word.count("-") == 2:
            year, month, day = (int(part) for part in word.split("-"))
            return [
                Value(Kind.DATE, 100 * month + day, "", "", place, place + 1),
                Value(Kind.YEAR, year, "", "", place, place + 1),
            ]
        value = (
            self._clock(place)
            or self._calendar(place)
            or self._rate(place)
            or self._amount(place)
            or self._ordinal(place)
        )
        return [value] if value else []

    def _clock(self, place: int) -> Value | None:
        word = self._lower(place)
        if word in _CLOCK_WORDS:
            return Value(Kind.CLOCK, _CLOCK_WORDS[word], "", "", place, place + 1)
        if self._tokens[place].is_number and ":" in word:
            hours, minutes = (int(part) for part in word.split(":"))
            end = place + 1
            return self._time_of_day(60 * hours + minutes, place, end)
        part = place + (word == "a")
        if self._lower(part) in {"half", "quarter"} and self._lower(part + 1) in _BESIDE_HOUR:
            hour = self._number(part + 2)
            if hour is not None:
                away = 60 * _SHARES[self._lower(part)]
                away *= -1 if self._lower(part + 1) == "to" else 1
                return self._time_of_day(60 * hour[0] + away, place, hour[1])
        number = self._number(place)
        if number is None:
            return None
        hour_size, end = number
        behind = self._lower(end)
        bare = self._lower(place - 1) == "at" and hour_size <= _HOURS
        stands_alone = end == len(self._tokens) or not (self._content[end] or behind == "%")
        if behind in {"am", "pm", "a.m", "p.m", "o'clock"} or (bare and stands_alone):
            return self._time_of_day(60 * hour_size, place, end)
        return None

    def _time_of_day(self, minutes: float, start: int, end: int) -> Value:
        behind = self._lower(end)
        if behind in {"pm", "p.m"} and minutes < 720:
            minutes += 720
        end += behind in {"am", "pm", "a.m", "p.m", "o'clock"}
        return Value(Kind.CLOCK, minutes, "", "", start, end)

    def _calendar(self, place: int) -> Value | None:
        token, word = self._tokens[place], self._lower(place)
        if not token.is_capital:
            return None
        if word in _WEEKDAYS:
            return Value(Kind.WEEKDAY, _WEEKDAYS[word], "", "", place, place + 1)
        month = MONTHS.get(word)
        if month is None:
            return None
        day = self._day(place + 1)
        if day and not self._lower(place + 2).startswith(("%", "percent")):
            return Value(Kind.DATE, 100 * month + day, "", "", place, place + 2)
        start = place - 2 if self._lower(place - 1) == "of" else place - 1
        day = self._day(start)
        if day:
            return Value(Kind.DATE, 100 * month + day, "", "", start, place + 1)
        return Value(Kind.MONTH, month, "", "", place, place + 1)

    def _day(self, place: int) -> int:
        word = self._lower(place)
        found = _DAY.fullmatch(word)
        day = int(found[1]) if found else ORDINALS.get(word, 0)
        return day if day <= _DAYS_OF_MONTH else 0

    def _rate(self, place: int) -> Value | None:
        word = self._lower(place)
        if word in _RATES:
            times, name = _RATES[word]
            return Value(Kind.RATE, times / _units()[name].size, "", "", place, place + 1)
        if word == "every":
            count, behind = self._number(place + 1) or (1.0, place + 1)
            if self._lower(place + 1) in {"other", "second"}:
                count, behind = 2.0, place + 2
            period = self._period(behind)
            if period:
                return Value(Kind.RATE, 1 / (count * period or 1), "", "", place, behind + 1)
        end = 0
        if word in {"once", "twice"}:
            times, end = (1 if word == "once" else 2), place + 1
        elif (number := self._number(place)) and self._lower(number[1]) == "times":
            times, end = int(number[0]), number[1] + 1
        period = self._period(end + 1) if end and self._lower(end) in _PER else 0
        return Value(Kind.RATE, times / period, "", "", place, end + 2) if period else None

    def _amount(self, place: int) -> Value | None:
        sign = self._lower(place) in _CURRENCIES
        number = self._number(place + sign)
        if number is None:
            return None
        size, end = number
        if sign or self._lower(place - 1) in _CURRENCIES:
            return Value(Kind.AMOUNT, size, "money", "", place, end)
        if size < 1 and self._lower(end) == "of" and self._lower(end + 1) in {"a", "an"}:
            end += 2
        unit = self._unit(end)
        if unit:
            return Value(Kind.AMOUNT, size * unit.size, unit.dimension, "", place, end + 1)
        token = self._tokens[place]
        if token.is_number and size in _YEARS and not {",", "."} & set(token.text):
            return Value(Kind.YEAR, size, "", "", place, end)
        return self._count(size, place, end)

    def _count(self, size: float, place: int, end: int) -> Value | None:
        head = self._head(end)
        before = self._tokens[place - 1] if place else None
        named = before is not None and before.is_word and self._content[place - 1]
        if before is not None and named and (not head or before.is_capital):
            return Value(Kind.IDENTIFIER, size, "", before.stem, place, end)
        if self._lower(place) == "one" and not head:
            return None
        return Value(Kind.COUNT, size, "", head, place, end)

    def _head(self, place: int) -> str:
        for at in range(place, min(place + _REACH, len(self._tokens))):
            if self._content[at]:
                return self._tokens[at].stem
            if not self._tokens[at].is_word:
                return ""
        return ""

    def _ordinal(self, place: int) -> Value | None:
        word = self._lower(place)
        size = ORDINALS.get(word, 0) if word != "second" else 0
        if self._tokens[place].is_number and (found := _DAY.fullmatch(word)):
            size = int(found[1])
        return (
            Value(Kind.IDENTIFIER, size, "", self._head(place + 1), place, place + 1)
            if size
            else None
        )

    def _number(self, place: int) -> tuple[float, int] | None:
        """A number in figures or words that begins at `place`, and where it ends."""
        word = self._lower(place)
        size: float
        if _FIGURE.fullmatch(word):
            size, end = float(word.replace(",", "")), place + 1
        elif word in TENS:
            one = ONES.get(self._lower(place + 1), 0)
            size, end = TENS[word] + one, place + 1 + (one > 0)
        elif word in ONES:
            size, end = ONES[word], place + 1
        elif word == "half" and self._lower(place + 1) in {"a", "an"}:
            return (0.5, place + 2) if self._unit(place + 2) else None
        elif word in {"a", "an"} and self._lower(place + 1) in _SCALES_ALONE:
            size, end = 1.0, place + 1
        elif word in {"a", "an"} and self._lower(place + 1) in _SHARES:
            return _SHARES[self._lower(place + 1)], place + 2
        elif word in {"a", "an"} and self._period(place + 1):
            return 1.0, place + 1
        else:
            return None
        return self._scaled(size, end)

    def _scaled(self, size: float, end: int) -> tuple[float, int]:
        """With what follows a number: "two thousand five hundred", "two thirds"."""
        while (scale := _SCALES_ALONE.get(self._lower(end))) is not None:
            size, end = size * scale, end + 1
            rest = end + (self._lower(end) == "and")
            added = TENS.get(self._lower(rest), 0) or ONES.get(self._lower(rest), 0)
            if added:
                hundreds = self._lower(rest + 1) == "hundred"
                size, end = size + added * (100 if hundreds else 1), rest + 1 + hundreds
        share = _SHARES.get(self._lower(end).removesuffix("s"))
        if share and self._lower(end).endswith("s") and size < 10:
            return size * share, end + 1
        if [self._lower(end), self._lower(end + 1)] == ["and", "a"]:
            share = _SHARES.get(self._lower(end + 2))
            if share:
                return size + share, end + 3
        return size, end
