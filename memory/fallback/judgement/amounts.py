"""How the numbers, dates and times of two statements stand to each other."""

from __future__ import annotations

from .pairing import Features, Pair
from .reading import Reading
from .values import CALENDAR, Kind, Value

_CLOSE = (0.8, 1.25)


def amounts(pair: Pair) -> Features:
    """Counts of equal, differing and unmatched values, by kind and place."""
    found: Features = {"no values": float(not pair.old.values and not pair.new.values)}
    equal, differing, old_left, new_left = match_values(pair)
    for value, _ in equal:
        _count(found, "equal value")
        _count(found, f"equal {value.kind}")
    for one, other in differing:
        _count(found, f"other {_sort(pair, one, other)}")
        _count(found, f"differing values {_where(pair, one, other)}")
        _count(found, "differing values in one frame", int(_has_one_frame(pair, one, other)))
        if one.kind is Kind.AMOUNT and other.size:
            found["close amounts"] = float(_CLOSE[0] < one.size / other.size < _CLOSE[1])
    for side, left in (("old", old_left), ("new", new_left)):
        found[f"values left {side}"] = len(left)
        found[f"dates left {side}"] = float(any(value.kind in CALENDAR for value in left))
        found[f"figures left {side}"] = float(any(value.kind not in CALENDAR for value in left))
    found["differing values"] = len(differing)
    return found


def match_values(
    pair: Pair,
) -> tuple[list[tuple[Value, Value]], list[tuple[Value, Value]], list[Value], list[Value]]:
    """Equal values, differing ones that measure one thing, and what is left on each side."""
    old_left, new_left = list(pair.old.values), list(pair.new.values)
    equal: list[tuple[Value, Value]] = []
    differing: list[tuple[Value, Value]] = []
    for are_equal, matched in ((True, equal), (False, differing)):
        for one in tuple(old_left):
            for other in new_left:
                if one.equals(other) if are_equal else _measures_same(one, other):
                    matched.append((one, other))
                    old_left.remove(one)
                    new_left.remove(other)
                    break
    return equal, differing, old_left, new_left


def _measures_same(one: Value, other: Value) -> bool:
    if one.kind != other.kind:
        return False
    return one.dimension == other.dimension


def _sort(pair: Pair, one: Value, other: Value) -> str:
    """The kind of a differing pair; of counts also whether they count one thing."""
    if one.kind is Kind.AMOUNT:
        return one.dimension if one.dimension in {"time", "money", "share"} else "amount"
    if one.kind not in {Kind.COUNT, Kind.IDENTIFIER}:
        return one.kind
    if one.head == other.head and one.head:
        return f"{one.kind} of one head"
    if one.head in pair.new.stems or other.head in pair.old.stems or not (one.head and other.head):
        return f"{one.kind} of a shared head"
    return f"{one.kind} of other heads"


def _where(pair: Pair, one: Value, other: Value) -> str:
    places = _in_subject(pair.old, one), _in_subject(pair.new, other)
    return "in subjects" if all(places) else "across" if any(places) else "in rests"


def _in_subject(reading: Reading, value: Value) -> bool:
    return reading.subject[value.start]


def _has_one_frame(pair: Pair, one: Value, other: Value) -> bool:
    """Whether the nearest words before or behind both values say the same."""
    for step, i, j in ((-1, one.start - 1, other.start - 1), (1, one.end, other.end)):
        near_old, near_new = _nearest(pair.old, i, step), _nearest(pair.new, j, step)
        if near_old is not None and pair.old_to_new.get(near_old, -1) == near_new:
            return True
    return False


def _nearest(reading: Reading, place: int, step: int) -> int | None:
    """The next word that carries meaning and is no value, from `place` on."""
    while 0 <= place < len(reading.tokens):
        if reading.content[place] and not reading.valued[place]:
            return place
        place += step
    return None


def _count(found: Features, name: str, more: int = 1) -> None:
    found[name] = found.get(name, 0.0) + more
