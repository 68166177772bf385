"""Whether two quantities can be values of one attribute, and whether they are the same value."""

from __future__ import annotations

from . import calendar
from .quantities import Quantity


def comparable(a: Quantity, b: Quantity) -> bool:
    """Whether the two could be two values of one attribute, by their dimension."""
    if a.kind == b.kind:
        return a.kind not in {"label", "ordinal"} or a.head == b.head
    kinds = {a.kind, b.kind}
    if kinds == {"date", "weekday"}:
        # A year or a month says nothing of the day of the week.
        return all(q.parts[2] for q in (a, b) if q.kind == "date")
    loose = {"number", "count", "label"}
    if "version" in kinds:
        return bool(kinds & {"number", "label", "count"})
    if kinds & loose:
        if kinds & {"date", "weekday", "clock", "ordinal", "frequency", "score"}:
            return False
        # "Room 4" is no duration, "six doors" no weight; a bare number may be either.
        named = any(q.kind == "label" or (q.kind == "count" and q.head) for q in (a, b))
        return kinds <= loose or not named
    return a.kind.removesuffix(" rate") == b.kind.removesuffix(" rate")


def equal(a: Quantity, b: Quantity) -> bool:
    """Whether two comparable quantities say the same."""
    if a.kind in {"date", "weekday"} and b.kind in {"date", "weekday"}:
        return calendar.same_moment(a.kind, a.parts, a.value, b.kind, b.parts, b.value)
    if a.kind == b.kind and a.kind not in {"count", "number"}:
        tolerance = _TOLERANCES.get(a.kind, 1e-6)
        if a.kind in _TIMED and ("month" in a.text.lower()) != ("month" in b.text.lower()):
            tolerance = _LOOSE_MONTH
        return abs(a.value - b.value) <= tolerance * max(abs(a.value), abs(b.value), 1e-12)
    if a.kind == b.kind:
        return abs(a.value - b.value) < 1e-9
    return abs(a.raw - b.raw) < 1e-9 or abs(a.value - b.value) < 1e-9


_TIMED = frozenset({"duration", "frequency"})
# Four weeks and a month, six weeks and a month and a half are one in everyday speech.
_LOOSE_MONTH = 0.1
# Conversions round: a month is no fixed number of days, six feet are "183 cm".
_TOLERANCES = {"duration": 0.02, "length": 0.005, "mass": 0.005, "frequency": 0.02}
