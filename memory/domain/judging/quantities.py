"""Quantities in a sentence: numbers in digits and words with units, money, rates, versions.

Values are reduced to a base unit per dimension, so that "1.5 litres" and "1,500 ml" are equal.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from . import calendar
from .numerals import NUMBER, digits_value, rate, read_number, read_words, unit_after, word_value
from .tables import words
from .tokens import Token
from .units import (
    CURRENCIES,
    FREQUENCIES,
    ONES,
    ORDINALS,
    SCALE_SUFFIXES,
    SCALES,
    TIMES,
    UNITS,
)

_MONEY_CODE = re.compile(r"(?P<code>usd|eur|gbp|chf|jpy)(?P<rest>\d[\d.,]*[kmb]?)\Z")
_VERSION = re.compile(r"v?\d+(?:\.\d+){2,3}\Z|v\d+(?:\.\d+)?\Z")
_ORDINAL = re.compile(r"(\d{1,4})(?:st|nd|rd|th)\Z")
_RANGE = re.compile(r"(\d+)-(\d+)([a-z%]{0,6})\Z")
_ARTICLES = frozenset({"a", "an", "one"})
_LABELS = words(
    "port room floor level step phase stage release version build sprint chapter page row line "
    "gate platform terminal suite unit ticket issue apartment track node node.js tier grade class "
    "python java redis postgres postgresql ios android windows macos ubuntu debian django react "
    "plan sample building block option group variant team hall wing section type feature product "
    "angular vue kubernetes mysql node php ruby rails go kafka elasticsearch size step week"
)
_SKIP_HEADS = words(
    "of the a an new more other different full whole additional extra further separate active big "
    "large small old own paid free calendar working business"
)


@dataclass(frozen=True, slots=True)
class Quantity:
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


def find_quantities(tokens: Sequence[Token]) -> list[Quantity]:
    """All quantities of a token list, from left to right, not overlapping."""
    found: list[Quantity] = []
    position = 0
    while position < len(tokens):
        quantity = None if tokens[position].separator else _at(tokens, position)
        if quantity is None:
            position += 1
        else:
            found.append(quantity)
            position = max(quantity.end, position + 1)
    return found


def _at(tokens: Sequence[Token], i: int) -> Quantity | None:
    return (
        _calendar(tokens, i)
        or _frequency(tokens, i)
        or _version(tokens, i)
        or _label(tokens, i)
        or _measure(tokens, i)
        or _ordinal(tokens, i)
    )


def _text(tokens: Sequence[Token], start: int, end: int) -> str:
    return " ".join(token.text for token in tokens[start:end])


def _calendar(tokens: Sequence[Token], i: int) -> Quantity | None:
    moment = calendar.moment_at(tokens, i)
    if moment is None:
        return None
    return Quantity(
        kind=moment.kind,
        value=moment.value,
        start=i,
        end=moment.end,
        text=_text(tokens, i, moment.end),
        raw=moment.value,
        parts=moment.parts,
    )


def _frequency(tokens: Sequence[Token], i: int) -> Quantity | None:
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
                "frequency", times * 86_400 / per[0], i, per[1], _text(tokens, i, per[1])
            )
        return None
    if word in {"every", "each"} and i + 1 < len(tokens):
        period, j = 1.0, i + 1
        if tokens[j].lower in {"other", "second"}:
            period, j = 2.0, j + 1
        else:
            number = read_number(tokens, j)
            if number:
                period, j = number
        unit = UNITS.get(tokens[j].lower) if j < len(tokens) else None
        if unit and unit[0] == "duration":
            value = 86_400 / (period * unit[1])
            return Quantity("frequency", value, i, j + 1, _text(tokens, i, j + 1))
    return None


def _version(tokens: Sequence[Token], i: int) -> Quantity | None:
    lower = tokens[i].lower
    if not _VERSION.match(lower):
        return None
    pieces = [int(part) for part in lower.lstrip("v").split(".")[:4]]
    value = 0.0
    for place, piece in enumerate(pieces):
        value += piece / 1000.0**place
    return Quantity("version", value, i, i + 1, tokens[i].text, raw=value)


def _label(tokens: Sequence[Token], i: int) -> Quantity | None:
    """A number that names something: "port 5432", "iOS 15", "sprint 14"."""
    if i + 1 >= len(tokens):
        return None
    word = tokens[i].lower
    if word not in _LABELS:
        return None
    if tokens[i + 1].lower in ONES and not unit_after(tokens, i + 2):
        number = float(ONES[tokens[i + 1].lower])
        return Quantity(
            "label", number, i, i + 2, _text(tokens, i, i + 2), head=tokens[i].stem, raw=number
        )
    letter = tokens[i + 1].text
    if len(letter) == 1 and letter.isupper() and letter.isascii():
        text = _text(tokens, i, i + 2)
        return Quantity("label", float(ord(letter)), i, i + 2, text, head=tokens[i].stem)
    match = NUMBER.match(tokens[i + 1].lower)
    if match is None or match["money"] or match["suffix"] or unit_after(tokens, i + 2):
        return None
    number = float(match["digits"].replace(",", "") + (match["fraction"] or "").replace(",", "."))
    text = _text(tokens, i, i + 2)
    return Quantity("label", number, i, i + 2, text, head=tokens[i].stem, raw=number)


def _measure(tokens: Sequence[Token], i: int) -> Quantity | None:
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
            text = _text(tokens, start, end)
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
    return Quantity("duration", value, i, end, _text(tokens, i, end), raw=1.0)


def _read_half(tokens: Sequence[Token], end: int) -> bool:
    return [token.lower for token in tokens[end : end + 3]] == ["and", "a", "half"]


def _with_unit(
    tokens: Sequence[Token], start: int, value: float, end: int, money: str
) -> Quantity | None:
    if money:
        text = _text(tokens, start, end)
        return _rated(tokens, Quantity("money:" + money, value, start, end, text, raw=value))
    unit = unit_after(tokens, end)
    if unit is not None:
        dimension, factor, unit_end = unit
        if _read_half(tokens, unit_end):
            value, unit_end = value + 0.5, unit_end + 3
        text = _text(tokens, start, unit_end)
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
        text = _text(tokens, start, per[1])
        return Quantity("frequency", per_day, start, per[1], text, head, raw=value)
    kind = "count" if head and value == int(value) else "number"
    text = _text(tokens, start, end)
    return Quantity(kind, value, start, end, text, head=head, raw=value)


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
        _text(tokens, quantity.start, per[1]),
        raw=quantity.raw,
    )


def _ordinal(tokens: Sequence[Token], i: int) -> Quantity | None:
    word = tokens[i].lower
    match = _ORDINAL.match(word)
    value = int(match[1]) if match else ORDINALS.get(word)
    if value is None or (word == "second" and i and tokens[i - 1].lower in {"per", "each"}):
        return None
    head = tokens[i + 1].stem if i + 1 < len(tokens) else ""
    return Quantity("ordinal", float(value), i, i + 1, tokens[i].text, head=head, raw=float(value))
