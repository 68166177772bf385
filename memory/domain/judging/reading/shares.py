"""Shares of a whole in words: "half of", "two thirds of", "one in five", as percentages."""

from __future__ import annotations

from collections.abc import Sequence

from .measures import Quantity, quote
from .numerals import read_number, unit_after
from .tables import words
from .tokens import Token

_PARTS = {
    "half": 1 / 2, "halves": 1 / 2, "third": 1 / 3, "thirds": 1 / 3, "quarter": 1 / 4,
    "quarters": 1 / 4, "fifth": 1 / 5, "fifths": 1 / 5, "sixth": 1 / 6, "eighth": 1 / 8,
    "eighths": 1 / 8, "tenth": 1 / 10, "tenths": 1 / 10,
}  # fmt: skip
_WHOLES = words("the its their his her our my your all this that these those")


def share_at(tokens: Sequence[Token], i: int) -> Quantity | None:
    """The share of a whole that starts at `i`, as a percentage, if any.

    "A quarter of an hour" is no share, and neither is "the third of May".
    """
    found = _in_so_many(tokens, i) or _parts_of(tokens, i)
    if found is None:
        return None
    value, end = found
    return Quantity("percent", value, i, end, quote(tokens, i, end), raw=value)


def _lower(tokens: Sequence[Token], i: int) -> str:
    return tokens[i].lower if 0 <= i < len(tokens) else ""


def _in_so_many(tokens: Sequence[Token], i: int) -> tuple[float, int] | None:
    """ "One in five", "nine out of ten"."""
    first = read_number(tokens, i)
    if first is None:
        return None
    end = first[1]
    if _lower(tokens, end) == "out" and _lower(tokens, end + 1) == "of":
        end += 2
    elif _lower(tokens, end) == "in" and first[0] < 10:
        end += 1
    else:
        return None
    second = read_number(tokens, end) if end < len(tokens) else None
    if second is None or not first[0] < second[0] <= 100 or unit_after(tokens, second[1]):
        return None
    return 100 * first[0] / second[0], second[1]


def _parts_of(tokens: Sequence[Token], i: int) -> tuple[float, int] | None:
    """ "Half of the", "half the", "a third of", "three quarters of"."""
    number, end = 1.0, i
    if _lower(tokens, i) not in _PARTS:
        read = read_number(tokens, i)
        if _lower(tokens, i) in {"a", "one"}:
            number, end = 1.0, i + 1
        elif read is not None:
            number, end = read
        else:
            return None
    word = _lower(tokens, end)
    if word not in _PARTS or (end == i and word != "half"):
        return None
    after = _lower(tokens, end + 1)
    if after == "of":
        whole = end + 2 < len(tokens) and unit_after(tokens, end + 1) is None
    else:
        whole = word == "half" and after in _WHOLES
    return (100 * number * _PARTS[word], end + 1) if whole and number <= 9 else None
