"""Where two statements exclude each other: opposite poles of an axis, or a denied word."""

from __future__ import annotations

from ..reading.frames import Reading, Word, kept_by_reading
from ..reading.lexicon import AXIS_NAMES, Mark, Table
from ..reading.negation import NEGATORS
from ..reading.slots import SUBJECT
from ..reading.tables import words
from .sameness import comparable, equal

# Beyond this many words on one axis a text says nothing clear, and comparing all is quadratic.
MAX_MARKS_PER_AXIS = 8
_PARTICLES = words("on off up down over live late back can may right fine open")
_BEFORE_STATE = words(
    "is are was were be been being stay stays still currently switched turned flipped shut set 's "
    "not never always remains remain now again came went goes kept"
)


# The plural of what is else told of how one is: "new patients".
_NOUNS = words("patients colds shorts briefs lights darks drinks")
_NOUNS_TOO = words("book books break breaks lock locks")
_DETERMINERS = words("a an the this that his her their its our my your")


def _is_state(reading: Reading, mark: Mark) -> bool:
    """Whether a small word stands for a state ("is off") and is no preposition or particle."""
    lower = reading.tokens[mark.start].lower
    after = reading.tokens[mark.end].lower if mark.end < len(reading.tokens) else ""
    if lower in _NOUNS:
        return False
    if mark.end - mark.start == 1 and lower in _NOUNS_TOO:
        # "Publishes a book" is not "is booked".
        return mark.start in {reading.verb_at, reading.head}
    if lower == "close" and after == "to":
        return False
    if mark.end - mark.start > 1 or lower not in _PARTICLES:
        return True
    if lower in {"can", "may", "open"}:
        return True
    if after in _DETERMINERS:
        # "Is on a lead", "is off the coast".
        return False
    return mark.start > 0 and reading.tokens[mark.start - 1].lower in _BEFORE_STATE


def _mark_denied(reading: Reading, mark: Mark) -> bool:
    inside = reading.tokens[mark.start : mark.end]
    # "Not required"; but "does not stop" denies the stop.
    own = len(inside) > 1 and any(token.lower in NEGATORS for token in inside)
    if own or mark.start not in reading.denied:
        return False
    # "No lift in the north tower" does not say that it is the other tower.
    return not (reading.slots[mark.start] in _SITES and reading.tokens[mark.start].lower in _SIDES)


_SIDES = words("north south east west northern southern eastern western left right upper lower")


def _quote(reading: Reading, mark: Mark) -> str:
    words = " ".join(token.text for token in reading.tokens[mark.start : mark.end])
    return "not " + words if _mark_denied(reading, mark) else words


@kept_by_reading
def _states(reading: Reading) -> tuple[Mark, ...]:
    """The words that stand for a pole of an axis."""
    measured = {i for q in reading.quantities for i in range(q.start, q.end)}
    return tuple(
        mark
        for mark in reading.of(Table.AXIS)
        if mark.start not in measured and _is_state(reading, mark)
    )


def oppositions(
    existing: Reading, new: Reading, alike: bool
) -> tuple[list[tuple[str, str, str]], set[int], set[int], bool]:
    """Clashes on an axis, the positions on either side where an axis agrees, and whether an
    agreement rests on a denial ("late", "not on time")."""
    by_row: dict[int, list[tuple[int, Mark]]] = {}
    for mark in _states(new):
        for row, pole in mark.ids:
            others = by_row.setdefault(row, [])
            if len(others) < MAX_MARKS_PER_AXIS:
                others.append((pole, mark))
    clashes: list[tuple[str, str, str]] = []
    agreed_existing: set[int] = set()
    agreed_new: set[int] = set()
    agreed_rows: set[int] = set()
    pending: list[tuple[int, Mark, Mark]] = []
    denied_alike = False
    for mark in _states(existing):
        for row, pole in mark.ids:
            for other_pole, other in by_row.get(row, ()):
                denied = _mark_denied(existing, mark) != _mark_denied(new, other)
                if (pole == other_pole) != denied:
                    agreed_existing.update(range(mark.start, mark.end))
                    agreed_new.update(range(other.start, other.end))
                    agreed_rows.add(row)
                    denied_alike = denied_alike or denied or _mark_denied(existing, mark)
                elif pole != other_pole or not alike:
                    pending.append((row, mark, other))
    ending = bool(pending) and _ends_alike(existing, new)
    for row, mark, other in pending:
        settled = mark.start in agreed_existing or other.start in agreed_new
        clash = (AXIS_NAMES[row], _quote(existing, mark), _quote(new, other))
        if ending:
            agreed_existing.update(range(mark.start, mark.end))
            agreed_new.update(range(other.start, other.end))
        elif row not in agreed_rows and not settled and clash not in clashes:
            clashes.append(clash)
    return clashes, agreed_existing, agreed_new, denied_alike


_SITES = frozenset({"in", "at", "into", "near", "within", "than", "inside"})
_ENDS, _LASTS = words("after at from since"), words("for until till to up before")


def _ends_alike(existing: Reading, new: Reading) -> bool:
    """ "Is deleted after two years", "is kept for 24 months": one end told from either side."""
    for a in existing.quantities:
        for b in new.quantities:
            first = existing.tokens[a.start - 1].lower if a.start else ""
            second = new.tokens[b.start - 1].lower if b.start else ""
            sides = (first in _ENDS and second in _LASTS) or (first in _LASTS and second in _ENDS)
            if sides and comparable(a, b) and equal(a, b):
                return True
    return False


def polarity_clash(
    existing: Reading, new: Reading, shared: list[tuple[Word, Word]]
) -> tuple[str, str] | None:
    """A shared word that one side denies and the other does not, if nothing agrees in denial.

    Where it happens is not what is denied: "the shop shuts", "nobody serves in the shop".
    """
    clash: tuple[str, str] | None = None
    for a, b in shared:
        sites = {existing.slots[a.position], new.slots[b.position]}
        if sites & _SITES and sites <= _SITES | {SUBJECT} and len(shared) > 1:
            continue
        if a.denied and b.denied:
            return None
        if a.denied != b.denied and clash is None:
            clash = (("not " if a.denied else "") + a.text, ("not " if b.denied else "") + b.text)
    return clash
