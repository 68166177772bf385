"""Days that have a name instead of a number: feasts, and the ends of months and years."""

from __future__ import annotations

from collections.abc import Sequence

from .tokens import Token
from .units import MONTHS

_FEASTS: tuple[tuple[tuple[str, ...], tuple[int, int]], ...] = (
    (("christmas", "eve"), (12, 24)),
    (("christmas", "day"), (12, 25)),
    (("christmas",), (12, 25)),
    (("boxing", "day"), (12, 26)),
    (("new", "year", "'s", "eve"), (12, 31)),
    (("new", "year", "'s", "day"), (1, 1)),
    (("new", "year"), (1, 1)),
    (("halloween",), (10, 31)),
    (("valentine", "'s", "day"), (2, 14)),
    (("end", "of", "the", "year"), (12, 31)),
    (("end", "of", "year"), (12, 31)),
    (("year-end",), (12, 31)),
    (("turn", "of", "the", "year"), (1, 1)),
    (("beginning", "of", "the", "year"), (1, 1)),
    (("start", "of", "the", "year"), (1, 1)),
)
OPENERS = frozenset(phrase[0] for phrase, _ in _FEASTS)
_LAST_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def feast_at(tokens: Sequence[Token], i: int) -> tuple[int, int, int] | None:
    """Month, day and the index behind a named day that starts at token `i`, if any."""
    if tokens[i].lower not in OPENERS:
        return None
    lowers = [token.lower for token in tokens[i : i + 4]]
    for phrase, (month, day) in _FEASTS:
        if tuple(lowers[: len(phrase)]) == phrase:
            return month, day, i + len(phrase)
    if lowers[:2] == ["end", "of"] and len(lowers) > 2 and lowers[2] in MONTHS:
        month = MONTHS[lowers[2]]
        return month, _LAST_DAYS[month - 1], i + 3
    return None
