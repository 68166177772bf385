"""What two statements tell past each other, so that neither repeats the other.

A figure of each that the other has no figure for, all against some, what another one is to do.
"""

from __future__ import annotations

from ..reading.frames import Reading, Word
from .evidence import Evidence
from .quantifiers import Extent, extent_of


def unmatched(ev: Evidence) -> str:
    """What one side tells that the other leaves open, or ""."""
    return _figures(ev) or _all_and_some(ev) or _charge(ev)


def _figures(ev: Evidence) -> str:
    """ "Between 8 and 10", "from 8:00 to 18:00": figures of both sides that meet none."""
    met = [value for pair in ev.comparison.equal_values for value in pair]
    mine = [value for value in ev.existing.quantities if value not in met]
    theirs = [value for value in ev.new.quantities if value not in met]
    return f"other figures are told: {mine[0].text} / {theirs[0].text}" if mine and theirs else ""


def _all_and_some(ev: Evidence) -> str:
    """ "All invoices are posted", "some invoices are mailed"."""
    if {extent_of(ev.existing), extent_of(ev.new)} == {Extent.ALL, Extent.PART}:
        return "all of them / some of them"
    return ""


def _charge(ev: Evidence) -> str:
    """ "Wants the region to pay for it": what another one is to do, told on one side alone."""
    for reading, left in ((ev.existing, ev.left_existing), (ev.new, ev.left_new)):
        found = _charged(reading, left)
        if found:
            return f"another one is to do it: {found}"
    return ""


def _charged(reading: Reading, left: tuple[Word, ...]) -> str:
    lost = {word.position for word in left if word.position > reading.verb_at}
    for place in lost:
        before = reading.tokens[place - 1].lower
        if before == "to" and place - 2 in lost:
            return f"{reading.tokens[place - 2].text} to {reading.tokens[place].text}"
    return ""
