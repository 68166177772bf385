"""How often something is: words, times a period, and periods that are counted."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...number_words import ORDINALS
from .measures import Quantity, quote
from .numerals import rate, read_number
from .tokens import Token
from .units import FREQUENCIES, TIMES, UNITS

_ORDINAL = re.compile(r"(\d{1,4})(?:st|nd|rd|th)\Z")


def frequency_at(tokens: Sequence[Token], i: int) -> Quantity | None:
    """How often, as times a day: "weekly", "twice a month", "every third week"."""
    word = tokens[i].lower
    if word in FREQUENCIES:
        return Quantity("frequency", FREQUENCIES[word], i, i + 1, tokens[i].text)
    times, end = 1.0, i
    if word in TIMES:
        times, end = float(TIMES[word]), i + 1
    else:
        number = read_number(tokens, i)
        if number and number[1] < len(tokens) and tokens[number[1]].lower in {"times", "time"}:
            times, end = number[0], number[1] + 1
    if end > i:
        per = rate(tokens, end)
        if per:
            return Quantity(
                "frequency", times * 86_400 / per[0], i, per[1], quote(tokens, i, per[1])
            )
        return None
    if word in {"a", "an", "one"} and i + 3 < len(tokens):
        # "A report a month".
        per = rate(tokens, i + 2)
        if per and tokens[i + 2].lower in {"a", "an", "per", "every", "each"}:
            return Quantity("frequency", 86_400 / per[0], i, per[1], quote(tokens, i, per[1]))
    if word in {"every", "each"} and i + 1 < len(tokens):
        period, j = 1.0, i + 1
        nth = 2 if tokens[j].lower == "other" else ordinal_value(tokens[j].lower)
        number = (float(nth), j + 1) if nth else _part(tokens, j) or read_number(tokens, j)
        if number:
            period, j = number
        unit = _period_unit(tokens[j].lower) if j < len(tokens) else None
        if unit and unit[0] == "duration":
            value = 86_400 / (period * unit[1])
            return Quantity("frequency", value, i, j + 1, quote(tokens, i, j + 1))
    return None


def _period_unit(word: str) -> tuple[str, float] | None:
    """A unit of time; "every night" is "nightly", once a day."""
    return UNITS.get("day" if word in {"night", "morning", "evening", "afternoon"} else word)


def _part(tokens: Sequence[Token], i: int) -> tuple[float, int] | None:
    """ "Every half hour", "every quarter of an hour"; a quarter alone is of a year."""
    part = _PARTS.get(tokens[i].lower)
    end = i + 1
    while end < len(tokens) and tokens[end].lower in {"of", "a", "an"}:
        end += 1
    hourly = end < len(tokens) and tokens[end].lower == "hour"
    return (part, end) if part is not None and hourly else None


_PARTS = {"half": 0.5, "quarter": 0.25}


def ordinal_value(word: str) -> int | None:
    """The number of "third" or "3rd"."""
    match = _ORDINAL.match(word)
    return int(match[1]) if match else ORDINALS.get(word)
