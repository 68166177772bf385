"""How much of a group a statement speaks of: all, none, a part, or nothing about it."""

from __future__ import annotations

from enum import StrEnum
from itertools import pairwise

from ..reading.frames import Reading, kept_by_reading
from ..reading.slots import SUBJECT
from ..reading.tables import words


class Extent(StrEnum):
    """The share of its group that a statement covers."""

    ALL = "all"
    NONE = "none"
    PART = "part"
    PLAIN = "plain"


_ALL = words(
    "all whole entire every each any everyone everybody everything anyone anybody always both "
    "whenever"
)
_NONE = words("no nobody none nothing never neither nowhere")
_PART = words("some most many several few majority sometimes occasionally partly partially mostly")
_SHARES = words("half third quarter thirds quarters fifth fifths tenth tenths percent %")
_WHICH = words("first last next every each")
# Outside the subject these are mere amounts ("most at ease", "many books").
_AMOUNTS = words("some most many several few")
_LIMITS = words("most least")
_EXCEPTIONS = words("except but besides beyond outside")


@kept_by_reading
def extent_of(reading: Reading) -> Extent:
    """The extent of a statement; "not every" and "not all" are a part, "no ... except" is plain."""
    tokens = reading.tokens
    found = Extent.PLAIN
    # "A quarter of an hour" is a figure.
    measured = {i for q in reading.quantities if q.kind != "percent" for i in range(q.start, q.end)}
    for i, token in enumerate(tokens):
        lower = token.lower
        before = tokens[i - 1].lower if i else ""
        after = tokens[i + 1].lower if i + 1 < len(tokens) else ""
        if lower in _ALL:
            if before == "not":
                return Extent.PART
            if lower in {"every", "each"} and after in _PERIODS:
                continue
            if lower == "all" and before in {"at", "of", "after", "above"}:
                continue
            found = Extent.ALL if found is Extent.PLAIN else found
        elif lower in _NONE and not (lower == "no" and after in {"longer", "more", "later"}):
            if any(t.lower in _EXCEPTIONS for t in tokens[i + 1 : i + 5]):
                return Extent.PLAIN
            found = Extent.NONE if found is Extent.PLAIN else found
        elif lower in _SHARES and after == "of" and before not in _WHICH and i not in measured:
            return Extent.PART
        elif lower in _PART and not (lower in _LIMITS and before in {"at", "the"}):
            amount = lower in _AMOUNTS and after != "of" and reading.slots[i] != SUBJECT
            if amount:
                continue
            return Extent.PART
    return found


_PERIODS = words(
    "day week month year hour minute second morning evening night quarter other two three "
    "four five six seven monday tuesday wednesday thursday friday saturday sunday time spring "
    "summer autumn winter fortnight sprint"
)


@kept_by_reading
def tells_share(reading: Reading) -> bool:
    """Whether the part is told as a figure ("a third of", "80 percent of")."""
    lowers = [token.lower for token in reading.tokens]
    return any(a in _SHARES and b == "of" for a, b in pairwise(lowers)) or any(
        q.kind == "percent" for q in reading.quantities
    )
