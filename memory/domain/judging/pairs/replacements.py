"""One thing in the place of another: "migrated from Go to Rust", "replaced Redis with Valkey"."""

from __future__ import annotations

from typing import NamedTuple

from ..reading.frames import Reading, Word, kept_by_reading
from ..reading.slots import OBJECT, SUBJECT
from ..reading.tables import words
from ..reading.tokens import stem
from .change_words import FILLERS, change_word, turning
from .endings import endings_of
from .evidence import Evidence
from .replacing import one_holder
from .tellings import tells_event

_REPLACING = frozenset(
    stem(verb) for verb in words("replace swap exchange substitute trade supplant")
)
_SUCCESSORS = words("with by for")
_AUXILIARIES = words("was were been got is are")
_WHEN = words("last ago recently lately earlier already finally just then week month year")


class Replacement(NamedTuple):
    """Where the words of what was replaced stand and those of what took its place."""

    old: frozenset[int]
    new: frozenset[int]
    is_passive: bool


def goes_on_from(ev: Evidence) -> str:
    """The verb of a further change, from just where the existing statement says one led; or "".

    "Switched from Jira to Linear", then "switched from Linear to Shortcut".
    """
    first, then = replacement_of(ev.existing), replacement_of(ev.new)
    if first is None or then is None or ev.elsewhere or not _is_told_of_one(ev, then):
        return ""
    met = {
        (a.position, b.position)
        for a, b in ev.comparison.shared
        if a.stem == b.stem and a.position in first.new and b.position in then.old
    }
    return ev.new.tokens[ev.new.verb_at].text if {a for a, _ in met} == first.new else ""


def two_replacements(ev: Evidence) -> str:
    """Two things that each took the place of one, where nothing says which stands; or "".

    "Migrated from Python to Go", "migrated from Python to Rust".
    """
    first, then = replacement_of(ev.existing), replacement_of(ev.new)
    if first is None or then is None or not _is_told_of_one(ev, then):
        return ""
    if change_word(ev.new) != turning(ev.new):
        # "Now", "instead".
        return ""
    c = ev.comparison
    met = [(a.position, b.position) for a, b in c.shared if a.stem == b.stem]
    old = {(a, b) for a, b in met if a in first.old and b in then.old}
    if not old or {a for a, _ in old} != first.old or {b for _, b in old} != then.old:
        return ""
    mine, theirs = _left(c.left_existing), _left(c.left_new)
    if not mine or not theirs or not mine <= first.new or not theirs <= then.new:
        return ""
    one, other = (
        " ".join(token.text for i, token in enumerate(reading.tokens) if i in places)
        for reading, places in ((ev.existing, mine), (ev.new, theirs))
    )
    return f"two things in the place of one: {one} / {other}"


@kept_by_reading
def replacement_of(reading: Reading) -> Replacement | None:
    """What a statement tells to have been replaced and by what, None where it tells no such."""
    if reading.negative or reading.verb_at >= len(reading.tokens):
        return None
    verb = reading.tokens[reading.verb_at]
    if turning(reading) and verb.stem not in _REPLACING:
        old, new = _words_in(reading, {"from"}), _words_in(reading, {"to", "into"})
        return Replacement(old, new, is_passive=False) if new else None
    if verb.stem not in _REPLACING or not tells_event(reading):
        return None
    lowers = [token.lower for token in reading.tokens[reading.head : reading.verb_at]]
    passive = not _AUXILIARIES.isdisjoint(lowers)
    old = _words_in(reading, {SUBJECT} if passive else {OBJECT})
    new = _words_in(reading, _SUCCESSORS if not passive else {"by", "with"})
    return Replacement(old, new, passive) if old and new else None


def _words_in(reading: Reading, slots: set[str] | frozenset[str]) -> frozenset[int]:
    """Of the first of the slots that holds any: behind "with Valkey" goes on "for sessions"."""
    found = [
        word.position
        for word in reading.words
        if reading.slots[word.position] in slots and word.position != reading.verb_at
    ]
    if not found:
        return frozenset()
    slot = reading.slots[found[0]]
    return frozenset(place for place in found if reading.slots[place] == slot)


def _is_told_of_one(ev: Evidence, then: Replacement) -> bool:
    if ev.signals.unreal or ev.before.unreal or ev.signals.additive:
        return False
    return then.is_passive or one_holder(ev)


def _left(left: tuple[Word, ...]) -> set[int]:
    return {word.position for word in left if word.text not in FILLERS | _WHEN}


def displaced(ev: Evidence) -> str:
    """ "Elected Bo treasurer in place of Ann": whom an ending names, where all else is shared."""
    if ev.left_existing or ev.new.negative:
        return ""
    over = {i for span, is_state in endings_of(ev.new) if not is_state for i in span}
    return next((b.text for a, b in ev.comparison.shared if a.is_name and b.position in over), "")
