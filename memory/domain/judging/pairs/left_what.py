"""What somebody left, and which states that ends: a place or a gathering ends the stay there alone.

"Left the nursing home" says nothing of "is a nurse", nor "left the book club" of the chess club.
"""

from __future__ import annotations

from typing import NamedTuple

from ..reading.frames import Reading, Word, kept_by_reading
from ..reading.tables import words
from ..reading.tokens import stem
from .compare import same_name
from .evidence import Evidence
from .leavable import OF_PARTNERS, ended_by_leaving, is_presence, is_trade
from .leaving import leaves_behind
from .named_bonds import stands_for_named

_QUITTING = frozenset(stem(verb) for verb in words("quit exit"))
_PARTING = frozenset(stem(verb) for verb in words("resign withdraw retire drop walk step pull"))
_FROM = words("from of as")
_DETERMINED = words("the a an his her their its our my your this that")
_NEXT = words(
    "in on at for from with to by after before because and but when while since until during "
    "through via without as who which that they she he we i you under over early late again "
    "yesterday today last this"
)
_FOREVER = words("good forever permanently ever")
_HOURS = frozenset({"clock"})
_OF_THE_DAY = words("early midnight noon hurry bus train foot taxi car back hungry tired")
# In capitals, and still no name.
_SHORT_NOUNS = words("ngo plc")
_SITES = words("at in on outside with")


class Departure(NamedTuple):
    """The noun or name left, if for that day only, and the word before: "the", "her"."""

    thing: Word
    group: tuple[Word, ...]
    is_for_the_day: bool
    article: str


def leaves_another(ev: Evidence) -> str:
    """What was left, where that is nothing the other statement tells of, whichever came first."""
    if ev.signals.correction:
        return ""
    if departure_of(ev.new) is not None:
        return _left_beside(ev.existing, ev.new, ev.left_existing, ev.left_new)
    return _left_beside(ev.new, ev.existing, ev.left_new, ev.left_existing, is_later=False)


def _left_beside(
    state: Reading,
    event: Reading,
    left_state: tuple[Word, ...],
    left_event: tuple[Word, ...],
    *,
    is_later: bool = True,
) -> str:
    gone = departure_of(event)
    if gone is None or not _is_of_one(state, event):
        return ""
    told = [word for word in state.words if not word.in_subject and word.position != state.verb_at]
    met = [word for word in told if any(_is_one(word, each) for each in gone.group)]
    if gone.is_for_the_day and not (met and is_presence(state)):
        return f"left for the day: {gone.thing.text}"
    is_name = gone.thing.is_name and gone.thing.text not in _SHORT_NOUNS
    if not is_name and any(_is_one(word, gone.thing) for word in met):
        mine, theirs = _kind(state, met[-1], left_state), _kind(event, gone.thing, left_event)
        return f"another one is left: {mine} / {theirs}" if mine and theirs else ""
    if is_name:
        return "" if met else _by_name(state, gone, told)
    if gone.thing.stem in ended_by_leaving(state) or (is_later and _may_be_named(state, gone)):
        return ""
    return f"another place is left: {gone.thing.text}"


def _may_be_named(state: Reading, gone: Departure) -> bool:
    """ "Works at the Louvre", "left the museum"; not of the parking garage of a firm."""
    return stands_for_named(state, gone.thing, gone.article)


def ends_stay(ev: Evidence) -> bool:
    """ "Works for Zeiss", "left the company": whether that is a word for what one was at."""
    gone = departure_of(ev.new)
    if gone is None or gone.is_for_the_day or gone.thing.is_name or ev.existing.negative:
        return False
    is_it = gone.thing.stem in ended_by_leaving(ev.existing) or _may_be_named(ev.existing, gone)
    return is_it and _is_of_one(ev.existing, ev.new)


def _is_of_one(e: Reading, n: Reading) -> bool:
    """Whether one named person is the subject of both, or neither says of whom it tells."""
    if e.head == e.start and n.head == n.start:
        return True
    if e.head - e.start == n.head - n.start == 1:
        # One word each, whether or not it is known to be a name.
        return e.tokens[e.start].lower == n.tokens[n.start].lower
    return any(
        same_name(a, b)
        for a in e.names
        for b in n.names
        if a.is_subject and b.is_subject and not (a.is_owner or b.is_owner)
    )


def _is_one(a: Word, b: Word) -> bool:
    """Whether both are one word or known to mean one; not of one root: "nurse", "nursing"."""
    return (
        a.text == b.text
        or (a.stem == b.stem and _ending(a) == _ending(b))
        or bool(a.groups & b.groups)
    )


def _ending(word: Word) -> str:
    return "ing" if word.text.endswith("ing") else ""


def _kind(reading: Reading, word: Word, left: tuple[Word, ...]) -> str:
    """What the other side lacks of the word before it, which makes a kind of it, or ""."""
    return next(
        (
            each.text
            for each in left
            if each.position == word.position - 1 != reading.verb_at and not each.in_subject
        ),
        "",
    )


def _by_name(state: Reading, gone: Departure, told: list[Word]) -> str:
    """A name that was left beside another one told, or beside what somebody is by trade."""
    if any(word.is_name for word in told) or is_trade(state):
        return f"another place is left: {gone.thing.text}"
    return ""


@kept_by_reading
def departure_of(reading: Reading) -> Departure | None:
    """What the main verb tells that somebody left; None where it tells no such thing."""
    verb = reading.verb_at
    if verb >= len(reading.tokens) or verb in reading.denied:
        return None
    token = reading.tokens[verb]
    if token.lower == "left" or token.stem in _QUITTING:
        first = verb + 1
    elif token.stem in _PARTING:
        first = next(
            (
                i + 1
                for i in range(verb + 1, min(verb + 4, len(reading.tokens)))
                if reading.tokens[i].lower in _FROM
            ),
            0,
        )
    else:
        return None
    if not first or first >= len(reading.tokens) or leaves_behind(reading, verb):
        return None
    end = first
    while end < len(reading.tokens):
        each = reading.tokens[end]
        if each.separator or (each.lower in _NEXT and end > first) or each.lower in _FROM:
            break
        end += 1
    group = tuple(word for word in reading.words if first <= word.position < end)
    determined = reading.tokens[first].lower in _DETERMINED
    if not group or not (determined or group[-1].is_name):
        # "Left school", "quit nursing".
        return None
    rest = {token.lower for token in reading.tokens[end:]}
    if not _FOREVER.isdisjoint(rest):
        # "Left the house for good".
        return None
    timed = any(q.kind in _HOURS and q.start >= first for q in reading.quantities)
    behind = reading.tokens[end].lower if end < len(reading.tokens) else ""
    if group[-1].stem in OF_PARTNERS and behind in _SITES:
        # "Left her family at the airport".
        timed = timed or not any(q.start >= end for q in reading.quantities)
    for_the_day = timed or not _OF_THE_DAY.isdisjoint(rest)
    return Departure(group[-1], group, for_the_day, reading.tokens[first].lower)
