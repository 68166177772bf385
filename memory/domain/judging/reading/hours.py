"""Spans of hours told as bare numbers: "from 9 to 17", "served between 7 and 10"."""

from __future__ import annotations

from collections.abc import Sequence

from ...number_words import ONES
from .tables import words
from .tokens import Token


def is_in_range(tokens: Sequence[Token], i: int) -> bool:
    """ "From nine to five", "served between 7 and 10": an end of a span of hours and no count."""
    start = i if lower_at(tokens, i + 1) in {"and", *_UP_TO} else i - 2
    opening = lower_at(tokens, start - 1) if start > 0 else ""
    link = {"and"} if opening == "between" else _UP_TO
    if start < 0 or lower_at(tokens, start + 1) not in link:
        return False
    ends = [small_number(lower_at(tokens, at)) for at in (start, start + 2)]
    after = start + 3
    last = after >= len(tokens) or tokens[after].separator
    if None in ends or not (last or lower_at(tokens, after) in _BEHIND_HOURS):
        return False
    if opening == "from" and last:
        return True
    return not _HOURS.isdisjoint(token.lower for token in tokens)


_UP_TO = frozenset({"to", "until", "till"})
_BEHIND_HOURS = words("on in at every each daily only from during")
# What is done or had at hours of the day.
_HOURS = words(
    "hours open opens opened opening open-plan works working shift office accepted accepts "
    "served serves delivered deliver delivers delivery deliveries meets meet class classes lesson "
    "lessons available reachable staffed visit visits visiting breakfast lunch dinner supper "
    "reception collected collect trains practises practice rehearses rehearsal rehearsals teaches "
    "surgery closed closes quiet rings phone call calls parking"
)


def small_number(word: str) -> int | None:
    """The number of a word or of at most two digits."""
    if word in ONES:
        return ONES[word]
    return int(word) if word.isdecimal() and len(word) <= 2 else None


def lower_at(tokens: Sequence[Token], i: int) -> str:
    """The folded token at `i`, "" outside."""
    return tokens[i].lower if 0 <= i < len(tokens) else ""
