"""What two statements tell past each other, so that neither repeats the other.

A figure of each that the other has no figure for, all against some.
"""

from __future__ import annotations

from itertools import pairwise

from ..reading.frames import Reading, kept_by_reading
from ..reading.quantities import Quantity
from ..reading.tables import words
from ..reading.units import WEEKDAYS
from .evidence import Evidence
from .quantifiers import Extent, extent_of
from .tellings import tells_event
from .undone import is_undone


def unmatched(ev: Evidence) -> str:
    """What one side tells that the other leaves open, or ""."""
    return _figures(ev) or _all_and_some(ev) or _every_other(ev) or _only(ev) or _undone(ev)


def _figures(ev: Evidence) -> str:
    """ "Between 8 and 10", "from 8:00 to 18:00": figures of both sides that meet none."""
    met = [value for pair in ev.comparison.equal_values for value in pair]
    for mine in ev.existing.quantities:
        for theirs in ev.new.quantities:
            if mine in met or theirs in met or not _of_a_kind(mine, theirs):
                continue
            if _hours(mine) != _hours(theirs):
                return f"other figures are told: {mine.text} / {theirs.text}"
    return ""


def _of_a_kind(mine: Quantity, theirs: Quantity) -> bool:
    kinds = {mine.kind, theirs.kind}
    return len(kinds) == 1 or kinds <= _HOURLY


_HOURLY = frozenset({"clock", "count", "number"})


def _hours(value: Quantity) -> float:
    """The figure; of a time of day the hours, so that "eight" is "8 a.m."."""
    return value.value / 60 if value.kind == "clock" else value.value


def _all_and_some(ev: Evidence) -> str:
    """ "All invoices are posted", "some invoices are mailed"."""
    if {extent_of(ev.existing), extent_of(ev.new)} == {Extent.ALL, Extent.PART}:
        return "all of them / some of them"
    return ""


def _every_other(ev: Evidence) -> str:
    """ "Every other Friday", "every Friday": one of two is left out on one side alone."""
    first, second = _periods(ev.existing), _periods(ev.new)
    for one, rest in ((first, second), (second, first)):
        if "other" in one and "other" not in rest and not rest.isdisjoint(WEEKDAYS):
            return "every one / every other one"
    return ""


@kept_by_reading
def _periods(reading: Reading) -> frozenset[str]:
    """What stands behind each "every": "other", or what there is one of each time."""
    lowers = [token.lower for token in reading.tokens]
    behind = {after for word, after in pairwise(lowers) if word in {"every", "each"}}
    return frozenset("other" if word == "second" else word for word in behind)


def _only(ev: Evidence) -> str:
    """ "Open only in the afternoon", "open all day": all of it on one side, some on the other.

    Or of the same words: "eats just lentils", "eats lentils".
    """
    for one, other in ((ev.existing, ev.new), (ev.new, ev.existing)):
        if other.exclusive or other.negative or not _limits(one) or _limits(other):
            continue
        if not _WHOLE.isdisjoint(other.lowers):
            return "only some of it / all of it"
        more = {word.text for word in (*ev.left_existing, *ev.left_new)}
        if more <= _LIMITING and _BY_ITSELF.isdisjoint(other.lowers):
            return "only this / this"
    return ""


@kept_by_reading
def _limits(reading: Reading) -> bool:
    """Whether it says "only", or "just" in its sense: "has just moved" tells when."""
    if "only" in reading.lowers and reading.exclusive:
        return True
    lowers = [token.lower for token in reading.tokens]
    return any(
        word in _JUST
        and (place == reading.start or place > reading.verb_at)
        and after not in _MOMENTS
        for place, (word, after) in enumerate(pairwise(lowers))
    )


_JUST = words("just merely")
_LIMITING = _JUST | {"only"}
# "Just now", "just before noon", "just over fifty", "just like".
_MOMENTS = words(
    "now then yesterday today before after when since as like about around over under above below "
    "outside inside behind off past beyond in"
)
_BY_ITSELF = words("alone sole nothing nobody")
_WHOLE = words("all whole any every always anytime anyone everyone everybody anybody")


def _undone(ev: Evidence) -> str:
    """ "Has not been painted outside", "was painted inside": what is denied and what was done."""
    for one, other in ((ev.existing, ev.new), (ev.new, ev.existing)):
        done = tells_event(other) and not (other.negative or other.exclusive or one.exclusive)
        if done and is_undone(one) and _verb(one) == _verb(other):
            return f"not done / done: {one.tokens[one.verb_at].text}"
    return ""


def _verb(reading: Reading) -> str:
    return reading.tokens[reading.verb_at].stem
