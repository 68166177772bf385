"""Whether two statements say just the same: what one tells and the other does not."""

from __future__ import annotations

from ..reading.frames import Reading, Word
from ..reading.tables import words
from .evidence import Evidence
from .roles import other_roles

_BOUNDS = words(
    "in on at during when while if unless before after until except without with for from since "
    "near outside inside under to as by"
)
# What is over, only thought of, or passing; each makes another fact of the same words.
_ASIDES = words(
    "used formerly previously once former ex- ex past might may maybe perhaps possibly considering "
    "considers plans planning intends hopes wishes wants thinking dreams wondering contemplating "
    "temporarily interim visiting"
)


def told_by_one(ev: Evidence) -> str:
    """What makes two facts of two statements in like words, or "".

    "Used to live in X" and "lives in X"; "likes coffee" and "likes coffee in the morning".
    """
    past = ev.before.past or ev.signals.past
    if bool(ev.before.past) != bool(ev.signals.past) and not past.endswith("ago"):
        return f'one is told as past ("{past}")'
    aside = _aside(ev)
    if aside:
        return f'one is told as such only ("{aside}")'
    if other_roles(ev.existing, ev.new):
        return "the same words in other places"
    if not _same_verb(ev):
        return ""
    for reading, left, other in (
        (ev.existing, ev.left_existing, ev.left_new),
        (ev.new, ev.left_new, ev.left_existing),
    ):
        bound = "" if other else _bound(reading, left)
        if bound:
            return f'one holds for some occasions only ("{bound}")'
    return ""


def _aside(ev: Evidence) -> str:
    c = ev.comparison
    if min(c.coverage_existing, c.coverage_new) < _ALIKE:
        return ""
    for name in ("past", "unreal", "temporary"):
        mine, theirs = getattr(ev.before, name), getattr(ev.signals, name)
        quote = str(mine or theirs)
        if bool(mine) != bool(theirs) and not _ASIDES.isdisjoint(quote.lower().split()):
            return quote
    return ""


_ALIKE = 0.6


def _same_verb(ev: Evidence) -> bool:
    """Whether the two are told with one verb, so that what is left over was added."""
    first = ev.existing.tokens[ev.existing.verb_at : ev.existing.verb_at + 1]
    second = ev.new.tokens[ev.new.verb_at : ev.new.verb_at + 1]
    return bool(first and second) and first[0].stem == second[0].stem


def _bound(reading: Reading, left: tuple[Word, ...]) -> str:
    """A left-over phrase of place, time or condition behind the verb."""
    for word in left:
        if word.position <= reading.verb_at:
            continue
        before = [t.lower for t in reading.tokens[max(0, word.position - 3) : word.position]]
        found = next((each for each in reversed(before) if each in _BOUNDS), "")
        if found:
            return f"{found} {word.text}"
    return ""
