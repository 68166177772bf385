"""Whom a place lets in says nothing of another place that opens or closes."""

from __future__ import annotations

from itertools import pairwise

from ..reading.frames import Reading, kept_by_reading
from ..reading.slots import is_copular
from .evidence import Evidence
from .nouns import head_noun


def way_into_another(ev: Evidence) -> str:
    """ "The garden is open to visitors", "the gate reopened": the way into another thing."""
    e, n, c = ev.existing, ev.new, ev.comparison
    if not (_lets_in(e) or _lets_in(n)):
        return ""
    mine, theirs = head_noun(e), head_noun(n)
    if mine is None or theirs is None or mine.is_name or theirs.is_name:
        return ""
    if mine in c.left_existing and theirs in c.left_new:
        return f"the way into another thing: {mine.text} / {theirs.text}"
    return ""


@kept_by_reading
def _lets_in(reading: Reading) -> bool:
    """Whether it says to whom something is open."""
    lowers = [token.lower for token in reading.tokens[reading.verb_at :]]
    return is_copular(reading.tokens, reading.verb_at) and ("open", "to") in pairwise(lowers)
