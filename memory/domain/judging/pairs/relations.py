"""Relations of two people or things as each end tells them: aunt and nephew, half and twice."""

from __future__ import annotations

from ..reading.frames import Reading
from ..reading.tables import words

# Of two people each is to the other what stands across from it.
_RELATIONS = tuple(
    (words(one), words(other))
    for one, other in (
        ("mother father parent mum dad", "son daughter child"),
        ("grandmother grandfather grandparent", "grandson granddaughter grandchild"),
        ("aunt uncle", "nephew niece"),
        ("godmother godfather godparent", "godson goddaughter godchild"),
        ("mother-in-law father-in-law", "son-in-law daughter-in-law"),
        ("stepmother stepfather stepparent", "stepson stepdaughter stepchild"),
        ("host", "guest"),
        ("brother sister sibling twin", "brother sister sibling twin"),
        ("husband wife spouse partner married", "husband wife spouse partner married"),
        ("cousin friend colleague neighbour", "cousin friend colleague neighbour"),
        ("boss manager supervisor", "report employee assistant"),
        ("teacher mentor coach tutor trainer", "student pupil mentee apprentice"),
        ("landlord landlady", "tenant lodger"),
        ("predecessor", "successor"),
        ("doctor therapist dentist", "patient"),
        ("half", "twice double"),
    )
)


def inverse_relations(existing: Reading, new: Reading) -> set[str]:
    """The words of a relation that the two tell from either end, or none."""
    for one, other in _RELATIONS:
        for first, second in ((one, other), (other, one)):
            mine, theirs = first & existing.lowers, second & new.lowers
            if mine and theirs:
                return set(mine | theirs)
    return set()
