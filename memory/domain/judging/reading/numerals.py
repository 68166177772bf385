"""Numbers in digits and words, and the units and rates behind them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...number_words import ONES, TENS
from .tokens import Token
from .units import CURRENCIES, FRACTIONS, POWERS, SCALES, SCALES_OF_DEGREES, UNITS


def read_number(tokens: Sequence[Token], i: int) -> tuple[float, int] | None:
    """The number that starts at `i`, in digits or words, and the index after it."""
    digits = _read_digits(tokens, i)
    if digits is not None:
        return digits
    return read_words(tokens, i)


def _read_digits(tokens: Sequence[Token], i: int) -> tuple[float, int] | None:
    match = NUMBER.match(tokens[i].lower)
    if match is None or match["suffix"] or match["money"]:
        return None
    value, end = digits_value(match), i + 1
    if end < len(tokens) and tokens[end].lower in SCALES and tokens[end].lower != "dozen":
        value, end = value * SCALES[tokens[end].lower], end + 1
    if match["sign"] == "-":
        value = -value
    return value, end


def digits_value(match: re.Match[str]) -> float:
    fraction = (match["fraction"] or "").replace(",", ".")
    return float(match["digits"].replace(",", "")[:15] + fraction[:12])


def word_value(word: str) -> int | None:
    if word in ONES:
        return ONES[word]
    if word in TENS:
        return TENS[word]
    ten, dash, one = word.partition("-")
    if dash and ten in TENS and one in ONES:
        return TENS[ten] + ONES[one]
    return None


def read_words(tokens: Sequence[Token], i: int) -> tuple[float, int] | None:
    total, current, j, seen = 0.0, 0.0, i, False
    while j < len(tokens) and j < i + 8:
        word = tokens[j].lower
        value = word_value(word)
        if value is not None:
            if seen and current % 10 != 0:
                break
            current += value
            seen = True
        elif word in SCALES and (seen or (j > i and tokens[j - 1].lower in {"a", "half"})):
            scale = SCALES[word]
            current = (current or 1.0) * scale
            if scale >= 1000:
                total, current = total + current, 0.0
        elif word == "a" and j == i and j + 1 < len(tokens) and tokens[j + 1].lower in SCALES:
            current, seen = 1.0, True
        elif word == "and" and seen and j + 1 < len(tokens):
            after = tokens[j + 1].lower
            if after == "a" and j + 2 < len(tokens) and tokens[j + 2].lower in FRACTIONS:
                return total + current + FRACTIONS[tokens[j + 2].lower], j + 3
            if word_value(after) is None or current < 100:
                break
        else:
            break
        j += 1
    part = _PARTS.get(tokens[j].lower) if seen and j < len(tokens) else None
    is_of = [token.lower for token in tokens[j + 1 : j + 2]] == ["of"]
    if part and is_of and unit_after(tokens, j + 1):
        # "Three quarters of an hour".
        return (total + current) * part, j + 1
    if seen:
        return total + current, j
    return _read_fraction(tokens, i)


_PARTS = {"quarters": 1 / 4, "thirds": 1 / 3, "halves": 1 / 2, "fifths": 1 / 5, "tenths": 1 / 10}


def _read_fraction(tokens: Sequence[Token], i: int) -> tuple[float, int] | None:
    word = tokens[i].lower
    if word not in {"half", "quarter"} or i + 1 >= len(tokens):
        return None
    if tokens[i + 1].lower not in {"a", "an", "of"}:
        return None
    if i + 2 < len(tokens) and tokens[i + 2].lower in SCALES:
        return FRACTIONS[word] * SCALES[tokens[i + 2].lower], i + 3
    return (FRACTIONS[word], i + 1) if unit_after(tokens, i + 1) else None


NUMBER = re.compile(
    r"(?P<sign>[+-])?(?P<money>[$€£¥])?(?P<digits>\d{1,3}(?:,\d{3})+|\d+)(?P<fraction>[.,]\d+)?"
    r"(?P<suffix>[a-z%°²/‰€£]{0,12})\Z"
)


def unit_after(tokens: Sequence[Token], i: int) -> tuple[str, float, int] | None:
    """Dimension, factor and end of a unit word at `i`, skipping "of a(n)" and one adjective."""
    j = i
    while (
        j < len(tokens)
        and j < i + 3
        and tokens[j].lower in {"of", "a", "an", "full", "calendar", "working", "business", "whole"}
    ):
        j += 1
    if j < len(tokens):
        word = tokens[j].lower
        power = _power(tokens, j)
        if power is not None:
            return power
        base, _, per = word.partition("/")
        if base in UNITS:
            dimension, factor = UNITS[base]
            if dimension == "temperature" and tokens[j + 1 : j + 2]:
                # "30 degrees", "30 degrees Celsius".
                scale = tokens[j + 1].lower
                if scale == "fahrenheit":
                    return UNITS[scale][0], UNITS[scale][1], j + 2
                return dimension, factor, j + 1 + (scale in SCALES_OF_DEGREES)
            if per in UNITS and UNITS[per][0] == "duration":
                return dimension + " rate", factor / UNITS[per][1], j + 1
            return dimension, factor, j + 1
        if word in CURRENCIES and j == i:
            return "money:" + CURRENCIES[word], 1.0, j + 1
    return None


def _power(tokens: Sequence[Token], j: int) -> tuple[str, float, int] | None:
    """ "Square kilometres", "cubic metres": the unit of two words at `j`."""
    known = POWERS.get(tokens[j].lower)
    unit = UNITS.get(tokens[j + 1].lower) if known and j + 1 < len(tokens) else None
    if known is None or unit is None or unit[0] != "length":
        return None
    dimension, power = known
    # Volumes are kept in litres.
    return dimension, unit[1] ** power * (1000.0 if power == 3 else 1.0), j + 2


_NIGHT = UNITS["day"]


def rate(tokens: Sequence[Token], end: int) -> tuple[float, int] | None:
    """The seconds of "per minute" or "a minute" at `end`."""
    if end + 1 < len(tokens) and tokens[end].lower in {"per", "a", "an", "each", "every"}:
        word = tokens[end + 1].lower
        unit = _NIGHT if word in {"night", "morning", "evening"} else UNITS.get(word)
        if unit and unit[0] == "duration":
            return unit[1], end + 2
    return None
