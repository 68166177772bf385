"""What two people are to each other by birth or marriage: one thing, and not another."""

from __future__ import annotations

from ..reading.frames import Reading, kept_by_reading
from ..reading.slots import is_copular
from ..reading.tables import words
from .compare import same_name
from .evidence import Evidence

# Of two people at most one of these is so.
_BONDS = tuple(
    words(line)
    for line in (
        "siblings brothers sisters twins sibling brother sister twin half-siblings half-brothers "
        "half-sisters",
        "cousins cousin",
        "mother father son daughter parent child",
        "grandmother grandfather grandson granddaughter grandparent grandchild",
        "uncle aunt nephew niece",
        "spouses married husband wife spouse",
    )
)


def two_bonds(ev: Evidence) -> str:
    """ "Pia and Jens are siblings", "Pia and Jens are cousins": the two bonds, or ""."""
    e, n = ev.existing, ev.new
    if e.negative or n.negative or ev.signals.change or ev.ending:
        return ""
    first, second = _bond(e), _bond(n)
    if not first or not second or first[0] == second[0] or not _same_two(e, n):
        return ""
    return f"two bonds of the same people: {first[1]} / {second[1]}"


@kept_by_reading
def _bond(reading: Reading) -> tuple[int, str] | None:
    """Which bond of the two people it opens with is told, and the word for it."""
    lowers = [token.lower for token in reading.tokens]
    two = len(reading.names) == 2 and all(name.end <= reading.head for name in reading.names)
    verb = reading.verb_at
    if not two or lowers[reading.names[0].end] != "and" or lowers[reading.head] != "are":
        return None
    if verb != reading.head or not is_copular(reading.tokens, verb):
        return (len(_BONDS) - 1, "married") if lowers[verb] == "married" else None
    for word in lowers[verb + 1 : verb + 4]:
        for row, bond in enumerate(_BONDS):
            if word in bond:
                return row, word
    return None


def _same_two(e: Reading, n: Reading) -> bool:
    return all(any(same_name(one, other) for other in n.names) for one in e.names)
