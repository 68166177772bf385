"""Whether two statements meet in more than in whom or what they are about.

Of one printer one may know its room, its colour and its owner, and that somebody moved it: nearly
all that is stored of one thing has nothing to do with the rest. A conflict needs a side of it that
both speak of.
"""

from __future__ import annotations

from ..reading.frames import Reading, Word, kept_by_reading
from ..reading.slots import is_copular
from ..reading.tables import words
from ..reading.tokens import stem
from .evidence import Evidence
from .tellings import verbs_of
from .values import BROAD

# What does not take place has no time; what was moved is not where it was.
_CALLED_OFF = frozenset(
    stem(verb)
    for verb in words(
        "cancel call disband scrap postpone abolish discontinue dissolve shelve defer"
    )
)
_MOVED = frozenset(stem(verb) for verb in words("move relocate transfer shift carry bring put"))
_TIMED = words("date weekday clock frequency")
_PLACING = words("in at on behind near beside under opposite inside outside next")


def is_common(ev: Evidence) -> bool:
    """Whether both say something of one side of what they are about."""
    c, e, n = ev.comparison, ev.existing, ev.new
    if ev.corrects or ev.same_path or ev.clash or ev.ending or ev.renewed:
        return True
    if c.oppositions or c.polarity or c.other_values or c.contrasts:
        return True
    if c.attributes and not (c.attribute_name() in BROAD and verbs_of(e, n, c)[1]):
        return True
    if any(not (a.in_subject and b.in_subject) for a, b in c.shared if (a, b) not in _people(ev)):
        return True
    if any(a.end > e.head or b.end > n.head for a, b in c.equal_values):
        return True
    return bool(_kinds(e) & _kinds(n)) or _is_undone(e, n)


def _people(ev: Evidence) -> set[tuple[Word, Word]]:
    """ "Olga hired Farid", "Olga and Farid quarrelled": whom both are about, as object too."""
    joined_e, joined_n = _joined(ev.existing), _joined(ev.new)
    met = [(a, b) for a, b in ev.comparison.shared if a.is_name and b.is_name]
    found: set[tuple[Word, Word]] = set()
    if any(a.in_subject and b.position in joined_n for a, b in met):
        found |= {(a, b) for a, b in met if b.position in joined_n}
    if any(b.in_subject and a.position in joined_e for a, b in met):
        found |= {(a, b) for a, b in met if a.position in joined_e}
    return found


@kept_by_reading
def _joined(reading: Reading) -> frozenset[int]:
    """Where the names of a subject stand that is several names joined by "and"."""
    places = {i for name in reading.names for i in range(name.start, name.end)}
    end = reading.start
    while end < reading.head and (end in places or reading.tokens[end].lower in _JOINING):
        end += 1
    lowers = {token.lower for token in reading.tokens[reading.start : end]}
    if end < reading.head or lowers.isdisjoint(_AND):
        return frozenset()
    return frozenset(place for place in places if place < end)


_AND = words("and & or")
_JOINING = _AND | {","}


@kept_by_reading
def _kinds(reading: Reading) -> frozenset[int]:
    return frozenset(row for word in reading.words if not word.in_subject for row, _ in word.kinds)


def _is_undone(e: Reading, n: Reading) -> bool:
    """Whether what happened to the subject takes its time or its place from it."""
    happened = n.tokens[n.verb_at].stem if n.verb_at < len(n.tokens) else ""
    if happened in _CALLED_OFF:
        return any(value.kind in _TIMED for value in e.quantities)
    return happened in _MOVED and _tells_place(e)


@kept_by_reading
def _tells_place(reading: Reading) -> bool:
    at = reading.verb_at
    if at >= len(reading.tokens):
        return False
    after = reading.tokens[at + 1 : at + 3]
    resting = is_copular(reading.tokens, at) or reading.tokens[at].stem in _RESTING
    return resting and any(token.lower in _PLACING for token in after)


_RESTING = frozenset(
    stem(verb) for verb in words("stand sit lie stay live park hang lodge keep store host locate")
)
