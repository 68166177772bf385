"""Whether two quantities can be values of one attribute, and whether they are the same value."""

from __future__ import annotations

from . import calendar
from .quantities import Quantity


def comparable(a: Quantity, b: Quantity) -> bool:
    """Whether the two could be two values of one attribute, by their dimension."""
    if a.kind == b.kind:
        return a.kind not in {"label", "ordinal"} or a.head == b.head
    kinds = {a.kind, b.kind}
    if kinds <= {"date", "weekday"}:
        return True
    loose = {"number", "count", "label"}
    if "version" in kinds:
        return bool(kinds & {"number", "label", "count"})
    if kinds & loose:
        return not kinds & {"date", "weekday", "clock", "ordinal", "frequency"}
    return a.kind.removesuffix(" rate") == b.kind.removesuffix(" rate")


def equal(a: Quantity, b: Quantity) -> bool:
    """Whether two comparable quantities say the same."""
    if a.kind in {"date", "weekday"} and b.kind in {"date", "weekday"}:
        return calendar.same_moment(a.kind, a.parts, a.value, b.kind, b.parts, b.value)
    if a.kind == b.kind and a.kind not in {"count", "number"}:
        tolerance = _TOLERANCES.get(a.kind, 1e-6)
        return abs(a.value - b.value) <= tolerance * max(abs(a.value), abs(b.value), 1e-12)
    if a.kind == b.kind:
        return abs(a.value - b.value) < 1e-9
    return abs(a.raw - b.raw) < 1e-9 or abs(a.value - b.value) < 1e-9


# Conversions round: a month is no fixed number of days, six feet are "183 cm".
_TOLERANCES = {"duration": 0.02, "length": 0.005, "mass": 0.005, "frequency": 0.02}
