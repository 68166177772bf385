"""Whether two quantities can be values of one attribute, and whether they are the same value."""

from __future__ import annotations

import math

from ..reading import calendar
from ..reading.quantities import Quantity


def comparable(a: Quantity, b: Quantity) -> bool:
    """Whether the two could be two values of one attribute, by their dimension."""
    if a.kind == b.kind == "date":
        # "In May", "in 2020": neither says anything of the other.
        return any(x and y for x, y in zip(a.parts, b.parts, strict=True))
    if a.kind == b.kind == "frequency":
        # "Needs oil weekly", "prints 400 sheets an hour": how often is not how many.
        return not any(x.head and not y.head and y.end - y.start == 1 for x, y in ((a, b), (b, a)))
    if a.kind == b.kind:
        return a.kind not in {"label", "ordinal"} or a.head == b.head
    kinds = {a.kind, b.kind}
    if kinds == {"date", "century"}:
        return any(q.parts[0] for q in (a, b) if q.kind == "date")
    if kinds == {"date", "weekday"}:
        # A year or a month says nothing of the day of the week.
        return all(q.parts[2] for q in (a, b) if q.kind == "date")
    if kinds == {"frequency", "weekday"}:
        # "Daily", "on Mondays".
        daily, day = (a, b) if a.kind == "frequency" else (b, a)
        return daily.value == 1 and day.text.lower().endswith("s")
    loose = {"number", "count", "label"}
    if "version" in kinds:
        return bool(kinds & {"number", "label", "count"})
    if kinds & loose:
        if kinds & {"date", "weekday", "clock", "ordinal", "frequency", "score", "century"}:
            return False
        # "Room 4" is no duration, "six doors" no weight; a bare number may be either.
        named = any(q.kind == "label" or (q.kind == "count" and q.head) for q in (a, b))
        return kinds <= loose or not named
    return a.kind.removesuffix(" rate") == b.kind.removesuffix(" rate")


def equal(a: Quantity, b: Quantity) -> bool:
    """Whether two comparable quantities say the same."""
    if {a.kind, b.kind} == {"date", "century"}:
        dated, century = (a, b) if a.kind == "date" else (b, a)
        return (dated.parts[0] - 1) // 100 + 1 == century.value
    if a.kind in {"date", "weekday"} and b.kind in {"date", "weekday"}:
        return calendar.same_moment(a.kind, a.parts, a.value, b.kind, b.parts, b.value)
    if a.kind == b.kind == "clock" and abs(a.value - b.value) == _HALF_DAY:
        # "At nine" may be nine in the evening.
        return _is_vague(a) or _is_vague(b)
    if a.kind == b.kind and a.kind not in {"count", "number"}:
        tolerance = _TOLERANCES.get(a.kind, 1e-6)
        if a.kind in _CONVERTIBLE:
            # "16 kilometres", "about ten miles"; but 49 minutes are no 50.
            tolerance = _CONVERTED[a.kind] if _is_converted(a, b) else 1e-6
        if a.kind in _TIMED and ("month" in a.text.lower()) != ("month" in b.text.lower()):
            tolerance = _LOOSE_MONTH
        return abs(a.value - b.value) <= tolerance * max(abs(a.value), abs(b.value), 1e-12)
    if a.kind == b.kind:
        return abs(a.value - b.value) < 1e-9
    if "weekday" in {a.kind, b.kind}:
        return False
    return abs(a.raw - b.raw) < 1e-9 or abs(a.value - b.value) < 1e-9


def _is_vague(clock: Quantity) -> bool:
    """Whether an hour is told without its half of the day."""
    words = clock.text.lower().replace(".", "").split()
    told = {"am", "pm", "morning", "afternoon", "evening", "night", "noon", "midday", "midnight"}
    return 60 <= clock.value <= _HALF_DAY + 59 and not (
        told & set(words) or any(c in clock.text for c in ":h") or words[-1].endswith(("am", "pm"))
    )


_HALF_DAY = 720


def _is_converted(a: Quantity, b: Quantity) -> bool:
    """Whether two measures of one kind stand in different units."""
    if not (a.raw and b.raw) or a.kind not in _CONVERTIBLE:
        return False
    first, second = a.value / a.raw, b.value / b.raw
    return abs(first - second) > 1e-9 * max(first, second) and not _is_decimal(first / second)


def _is_decimal(ratio: float) -> bool:
    """Whether units differ by a power of ten, so that nothing need be rounded."""
    power = math.log10(abs(ratio)) if ratio else 0.0
    return abs(power - round(power)) < 1e-6


# Conversions round: a month is no fixed number of days, ten miles are "16 kilometres".
_CONVERTED = {"duration": 0.02, "length": 0.03, "mass": 0.03, "volume": 0.03, "area": 0.03}
_CONVERTIBLE = frozenset(_CONVERTED)
_TIMED = frozenset({"duration", "frequency"})
# Four weeks and a month, six weeks and a month and a half are one in everyday speech.
_LOOSE_MONTH = 0.1
_TOLERANCES = {"frequency": 0.02}
