"""Quantities in a sentence: numbers in digits and words with units, money, rates, versions.

Values are reduced to a base unit per dimension, so that "1.5 litres" and "1,500 ml" are equal.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from ...number_words import ONES, ORDINALS, TENS
from . import calendar
from .frequencies import frequency_at, ordinal_value
from .measures import Quantity, measure_at, quote
from .numerals import NUMBER, unit_after
from .shares import share_at
from .tables import words
from .tokens import Token
from .units import CURRENCIES, FREQUENCIES, SCALES, TIMES, UNITS

__all__ = ["Quantity", "find_quantities"]

_VERSION = re.compile(r"v?\d+(?:\.\d+){2,3}\Z|v\d+(?:\.\d+)?\Z")
_SCORE = re.compile(r"(\d{1,3}):(\d{1,3})\Z")
_HUNDREDS = re.compile(r"(\d{2})00s\Z")
_LABELS = words(
    "port room floor level step phase stage release version build sprint chapter page row line "
    "gate platform terminal suite unit ticket issue apartment track node node.js tier grade class "
    "python java redis postgres postgresql ios android windows macos ubuntu debian django react "
    "plan sample building block option group variant team hall wing section type feature product "
    "angular vue kubernetes mysql node php ruby rails go kafka elasticsearch size step week"
)


_FRACTIONS = words("half third quarter fifth sixth eighth tenth")


def find_quantities(tokens: Sequence[Token]) -> list[Quantity]:
    """All quantities of a token list, from left to right, not overlapping."""
    found: list[Quantity] = []
    position = 0
    while position < len(tokens):
        quantity = _at(tokens, position) if _may_begin(tokens, position) else None
        if quantity is None:
            position += 1
        else:
            found.append(quantity)
            position = max(quantity.end, position + 1)
    return found


def _may_begin(tokens: Sequence[Token], i: int) -> bool:
    """Whether a quantity can begin with the token at all; most words begin none."""
    token = tokens[i]
    if token.separator:
        return False
    if token.lower in {"a", "an"}:
        after = tokens[i + 1].lower if i + 1 < len(tokens) else ""
        if after == "quarter" and calendar.moment_at(tokens, i + 1):
            # "At a quarter past nine".
            return False
        rated = i + 3 < len(tokens) and tokens[i + 2].lower in {"a", "per", "every", "each"}
        return after in UNITS or after in SCALES or after in _FRACTIONS or rated
    return _is_opener(token.lower)


_OPENERS = frozenset(
    {
        *calendar.OPENERS, *ONES, *TENS, *ORDINALS, *FREQUENCIES, *TIMES, *CURRENCIES, *_LABELS,
        "every", "each", "half", "quarter",
    }
)  # fmt: skip


@lru_cache(maxsize=16_384)
def _is_opener(word: str) -> bool:
    return word.rstrip(".") in _OPENERS or "-" in word or any(c.isdigit() for c in word)


def _at(tokens: Sequence[Token], i: int) -> Quantity | None:
    return (
        _century(tokens, i)
        or _calendar(tokens, i)
        or _score(tokens, i)
        or frequency_at(tokens, i)
        or _version(tokens, i)
        or _label(tokens, i)
        or share_at(tokens, i)
        or _named(tokens, i, measure_at(tokens, i))
        or _ordinal(tokens, i)
    )


def _is_acronym(token: Token) -> bool:
    """ "Flight LH 441 costs": the letters before a number that goes with them."""
    return token.text.isupper() and token.text.isalpha() and 2 <= len(token.text) <= _LONGEST


_LONGEST = 3


def _named(tokens: Sequence[Token], i: int, found: Quantity | None) -> Quantity | None:
    """A bare number behind a name is a part of it: "is now Dairy 9", "at Studio 54"."""
    if found is None or i < 2 or not found.raw.is_integer():
        return found
    before = tokens[i - 1]
    coded = found.kind == "count" and found.end == i + 1 and _is_acronym(before)
    if found.kind != "number" and not coded:
        return found
    if not before.text[0].isupper() or not before.text.isalpha() or tokens[i - 2].separator:
        return found
    return found._replace(kind="label", head=before.stem)


def _century(tokens: Sequence[Token], i: int) -> Quantity | None:
    """ "The 12th century", "the 1100s"."""
    hundreds = _HUNDREDS.match(tokens[i].lower)
    if hundreds:
        return Quantity("century", float(int(hundreds[1]) + 1), i, i + 1, tokens[i].text)
    if i + 1 < len(tokens) and tokens[i + 1].lower == "century":
        value = ordinal_value(tokens[i].lower)
        if value is not None:
            return Quantity("century", float(value), i, i + 2, quote(tokens, i, i + 2))
    return None


def _calendar(tokens: Sequence[Token], i: int) -> Quantity | None:
    moment = calendar.moment_at(tokens, i)
    if moment is None:
        return None
    return Quantity(
        kind=moment.kind,
        value=moment.value,
        start=i,
        end=moment.end,
        text=quote(tokens, i, moment.end),
        raw=moment.value,
        parts=moment.parts,
    )


def _score(tokens: Sequence[Token], i: int) -> Quantity | None:
    """The result of a match or vote: "3:1"."""
    match = _SCORE.match(tokens[i].lower)
    if match is None:
        return None
    value = float(match[1]) * 1000 + float(match[2])
    return Quantity("score", value, i, i + 1, tokens[i].text, raw=value)


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
            "label", number, i, i + 2, quote(tokens, i, i + 2), head=tokens[i].stem, raw=number
        )
    letter = tokens[i + 1].text
    if len(letter) == 1 and letter.isupper() and letter.isascii() and letter not in _NUMERALS:
        text = quote(tokens, i, i + 2)
        return Quantity("label", float(ord(letter)), i, i + 2, text, head=tokens[i].stem)
    roman = _ROMAN.match(letter)
    if roman:
        text = quote(tokens, i, i + 2)
        value = _roman(roman[1]) + ord(roman[2] or "\0") / 1e3
        return Quantity("label", value, i, i + 2, text, head=tokens[i].stem)
    match = NUMBER.match(tokens[i + 1].lower)
    if match is None or match["money"] or match["suffix"] or unit_after(tokens, i + 2):
        return None
    number = float(match["digits"].replace(",", "") + (match["fraction"] or "").replace(",", "."))
    text = quote(tokens, i, i + 2)
    return Quantity("label", number, i, i + 2, text, head=tokens[i].stem, raw=number)


_ROMAN = re.compile(r"([IVX]{1,5})([a-z])?\Z")
_NUMERALS = {"I": 1, "V": 5, "X": 10}


def _roman(text: str) -> float:
    """The value of a small Roman numeral."""
    values = [_NUMERALS[letter] for letter in text]
    return float(sum(-a if a < b else a for a, b in zip(values, [*values[1:], 0], strict=True)))


def _ordinal(tokens: Sequence[Token], i: int) -> Quantity | None:
    word = tokens[i].lower
    value = ordinal_value(word)
    if value is None or (word == "second" and i and tokens[i - 1].lower in {"per", "each"}):
        return None
    head = tokens[i + 1].stem if i + 1 < len(tokens) else ""
    return Quantity("ordinal", float(value), i, i + 1, tokens[i].text, head=head, raw=float(value))
