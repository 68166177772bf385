"""Numbers with the unit, currency or noun they measure, as values of a base unit."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from ...number_words import ORDINALS
from .numerals import NUMBER, digits_value, rate, read_number, read_words, unit_after, word_value
from .tables import words
from .tokens import Token, stem
from .units import CURRENCIES, SCALE_SUFFIXES, SCALES, UNITS

_MONEY_CODE = re.compile(r"(?P<code>usd|eur|gbp|chf|jpy)(?P<rest>\d[\d.,]*[kmb]?)\Z")
_RANGE = re.compile(r"(\d+)-(\d+)([a-z%]{0,6})\Z")
_ARTICLES = frozenset({"a", "an", "one"})
_SKIP_HEADS = words(
    "of the a an new more other different full whole additional extra further separate active big "
    "large small old own paid free calendar working business"
)


class Quantity(NamedTuple):
    """One value found in tokens `start` to `end` (exclusive).

    `kind` is a dimension ("duration", "money:EUR", "clock", "date", "count", "number", "version",
    "label", "ordinal", "frequency"); `value` is in its base unit; `head` is what is counted.
    """

    kind: str
    value: float
    start: int
    end: int
    text: str
    head: str = ""
    raw: float = 0.0
    parts: tuple[int, int, int] = (0, 0, 0)


def quote(tokens: Sequence[Token], start: int, end: int) -> str:
    """The words as written."""
    return " ".join(token.text for token in tokens[start:end])


def measure_at(tokens: Sequence[Token], i: int) -> Quantity | None:
    """The measure that starts at `i` ("EUR 5", "two hours", "12 people"), if any."""
    token = tokens[i]
    lower = token.lower
    money = ""
    start = i
    if lower in CURRENCIES and i + 1 < len(tokens) and tokens[i + 1].lower[:1].isdigit():
        money, i = CURRENCIES[lower], i + 1
        lower = tokens[i].lower
    code = _MONEY_CODE.match(lower)
    if code:
        money, lower = CURRENCIES[code["code"]], code["rest"]
    match = NUMBER.match(lower)
    if match is None:
        hyphen = _hyphenated(tokens, start)
        if hyphen is not None:
            return hyphen
        if lower == "one" and i and tokens[i - 1].lower in {"no", "every", "any", "each", "this"}:
            return None
        number = read_words(tokens, i)
        if number is None:
            return _article_unit(tokens, i)
        return _with_unit(tokens, start, number[0], number[1], money)
    value, end = digits_value(match), i + 1
    money = money or CURRENCIES.get(match["money"] or "", "")
    suffix = match["suffix"]
    if suffix:
        base, _, per = suffix.partition("/")
        if base in {"k", "bn", "mn"} or (base in {"m", "b"} and money):
            value *= SCALE_SUFFIXES[base]
        elif base in CURRENCIES:
            money = CURRENCIES[base]
        elif base in UNITS:
            dimension, factor = UNITS[base]
            if per in UNITS:
                dimension, factor = dimension + " rate", factor / UNITS[per][1]
            text = quote(tokens, start, end)
            return _rated(tokens, Quantity(dimension, value * factor, start, end, text, raw=value))
        else:
            return None
    elif end < len(tokens) and tokens[end].lower in SCALES:
        value, end = value * SCALES[tokens[end].lower], end + 1
    if match["sign"] == "-":
        value = -value
    return _with_unit(tokens, start, value, end, money)


def _hyphenated(tokens: Sequence[Token], i: int) -> Quantity | None:
    """ "40-hour", "three-day", "two-year-old", "15-17"."""
    parts = tokens[i].lower.split("-")
    if len(parts) < 2:
        return None
    interval = _RANGE.match(tokens[i].lower)
    if interval:
        value = float(interval[1][:9]) + float(interval[2][:9]) / 1e5
        return _with_unit(tokens, i, value, i + 1, "")
    number = float(parts[0][:9]) if parts[0].isdecimal() else word_value(parts[0])
    if parts[0] == "single":
        number = 1
    if number is not None and parts[1] not in UNITS and len(parts) == 2 and parts[1].isalpha():
        if parts[1] in ORDINALS or word_value(parts[1]) is not None or len(parts[1]) < 4:
            return None
        # "A two-storey house".
        return Quantity(
            "count", float(number), i, i + 1, tokens[i].text, stem(parts[1]), float(number)
        )
    if number is None or parts[1] not in UNITS:
        return None
    dimension, factor = UNITS[parts[1]]
    return Quantity(dimension, number * factor, i, i + 1, tokens[i].text, raw=float(number))


def _article_unit(tokens: Sequence[Token], i: int) -> Quantity | None:
    """ "a week", "an hour": one of a unit of time longer than a second."""
    if tokens[i].lower not in _ARTICLES or i + 1 >= len(tokens):
        return None
    unit = UNITS.get(tokens[i + 1].lower)
    if unit is None or unit[0] != "duration" or unit[1] < 60:
        return None
    if i + 2 < len(tokens) and tokens[i + 2].lower == "of":
        return None
    value, end = unit[1], i + 2
    if _read_half(tokens, end):
        value, end = value * 1.5, end + 3
    else:
        times, end = _with_rest(tokens, unit[0], unit[1], 1.0, end)
        value *= times
    return Quantity("duration", value, i, end, quote(tokens, i, end), raw=1.0)


def _read_half(tokens: Sequence[Token], end: int) -> bool:
    return [token.lower for token in tokens[end : end + 3]] == ["and", "a", "half"]


def _with_unit(
    tokens: Sequence[Token], start: int, value: float, end: int, money: str
) -> Quantity | None:
    if money:
        text = quote(tokens, start, end)
        return _rated(tokens, Quantity("money:" + money, value, start, end, text, raw=value))
    per = rate(tokens, end) if value >= 1 else None
    if per and tokens[end].lower in {"a", "an"}:
        # "400 a month" is no 400 months.
        text = quote(tokens, start, per[1])
        return Quantity("frequency", value * 86_400 / per[0], start, per[1], text, raw=value)
    unit = unit_after(tokens, end)
    if unit is not None:
        dimension, factor, unit_end = unit
        if _read_half(tokens, unit_end):
            value, unit_end = value + 0.5, unit_end + 3
        value, unit_end = _with_rest(tokens, dimension, factor, value, unit_end)
        text = quote(tokens, start, unit_end)
        found = Quantity(dimension, value * factor, start, unit_end, text, raw=value)
        return _rated(tokens, found)
    if end < len(tokens) and tokens[end].lower in SCALE_SUFFIXES and tokens[end].lower != "m":
        value, end = value * SCALE_SUFFIXES[tokens[end].lower], end + 1
    head, j = "", end
    while j < len(tokens) and j < end + 4 and not tokens[j].separator:
        if tokens[j].lower not in _SKIP_HEADS:
            head = tokens[j].stem
            break
        j += 1
    per = rate(tokens, j + 1) if head else None
    if per:
        # "60 requests per minute" and "one request a second" are one frequency.
        per_day = value * 86_400 / per[0]
        text = quote(tokens, start, per[1])
        return Quantity("frequency", per_day, start, per[1], text, head, raw=value)
    kind = "count" if head and value == int(value) else "number"
    text = quote(tokens, start, end)
    return Quantity(kind, value, start, end, text, head=head, raw=value)


def _with_rest(
    tokens: Sequence[Token], dimension: str, factor: float, value: float, end: int
) -> tuple[float, int]:
    """The value, in its own unit, with a rest in a smaller one ("4 hours and 20 minutes")."""
    i = end + 1 if end < len(tokens) and tokens[end].lower == "and" else end
    rest = read_number(tokens, i) if i < len(tokens) else None
    unit = unit_after(tokens, rest[1]) if rest else None
    if rest is None or unit is None or unit[0] != dimension or unit[1] >= factor:
        return value, end
    return value + rest[0] * unit[1] / factor, unit[2]


def _rated(tokens: Sequence[Token], quantity: Quantity) -> Quantity:
    """The quantity with a following "per minute" taken in."""
    per = rate(tokens, quantity.end)
    if per is None or quantity.kind == "duration":
        return quantity
    return Quantity(
        quantity.kind + " rate",
        quantity.value / per[0],
        quantity.start,
        per[1],
        quote(tokens, quantity.start, per[1]),
        raw=quantity.raw,
    )
