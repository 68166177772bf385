"""Explicit change of one aspect: the new value replaces the old one, whatever kind either is."""

from __future__ import annotations

import re

from .compare import same_name
from .endings import endings_of
from .evidence import Evidence
from .frames import Reading, Word, kept_by_reading, read
from .slots import ASIDE, OBJECT, SUBJECT, VERB, is_copular
from .subjects import subject_names
from .tables import words
from .tellings import tells_event, verbs_of
from .tokens import stem
from .values import is_many_valued

_NOW = words("now nowadays instead anymore henceforth meanwhile")
_NOW_PHRASES: tuple[tuple[str, ...], ...] = (
    ("no", "longer"), ("from", "now", "on"), ("any", "more"), ("these", "days"), ("as", "of"),
    ("going", "forward"), ("from", "here", "on"), ("any", "longer"),
)  # fmt: skip
_TURNING = frozenset(
    stem(verb) for verb in words("switch change migrate convert transition swap shift defect")
)
_MOVING = frozenset(stem(verb) for verb in words("move relocate transfer"))
_RELOCATING = frozenset({stem("relocate")})
# What one has by choice until one turns to another, and where one is until one moves.
_CHOOSING = frozenset(
    stem(verb)
    for verb in words(
        "use prefer run drink drive read write play take eat wear choose favour rely ride bank "
        "subscribe host build deploy ship track book order code develop"
    )
)
_STAYING = frozenset(stem(verb) for verb in words("live reside dwell locate base sit stay"))
_SITES = words("in at on")
_EMPLOYED = frozenset(stem(verb) for verb in words("work employ"))
_EMPLOYING = words("at for by with")
_TARGETS = words("to back over")


@kept_by_reading
def change_word(reading: Reading) -> str:
    """The words by which a statement says that something is otherwise from now on, or ""."""
    tokens = reading.tokens
    lowers = [token.lower for token in tokens]
    for i, lower in enumerate(lowers):
        if lower in _NOW and not (lower == "instead" and lowers[i + 1 : i + 2] == ["of"]):
            return tokens[i].text
        for phrase in _NOW_PHRASES:
            if lower == phrase[0] and tuple(lowers[i : i + len(phrase)]) == phrase:
                return " ".join(phrase)
    return _turning(reading)


def tells_change(text: str) -> bool:
    """Whether a statement says in so many words that something has changed or ended."""
    reading = read(text)
    return bool(change_word(reading)) or bool(endings_of(reading))


def may_concern(*, new: str, text: str) -> bool:
    """Whether `text` has a word of the subject of `new`; without it no change of it is told.

    Asked of many, so that it takes nothing apart but `new`.
    """
    subject = _subject_words(read(new))
    return not subject or any(word in subject for word in _WORD.findall(text.casefold()))


_WORD = re.compile(r"\w+")


@kept_by_reading
def _subject_words(reading: Reading) -> frozenset[str]:
    return frozenset(
        part
        for word in reading.words
        if word.in_subject and word.text not in _FILLERS
        for part in _WORD.findall(word.text.casefold())
    )


@kept_by_reading
def _turning(reading: Reading) -> str:
    """ "Switched to", "has moved back to": the main verb, where it leads to a new value."""
    verb = reading.verb_at
    if verb >= len(reading.tokens) or verb in reading.denied or not tells_event(reading):
        return ""
    if reading.tokens[verb].stem not in _TURNING | _MOVING:
        return ""
    after = [token.lower for token in reading.tokens[verb + 1 : verb + 6]]
    return reading.tokens[verb].text if not _TARGETS.isdisjoint(after) else ""


def replaced_by(ev: Evidence) -> str:
    """The change word by which the new value takes the place of the old one, or "".

    Both must be about one holder and one aspect of it, told by the same verb, with a value of
    each left over in the same place. What one has several of ("likes", "speaks") is only replaced
    where the new statement says that the old is over.
    """
    e, n = ev.existing, ev.new
    word = change_word(n)
    if not word or n.negative or _is_aside(ev) or not _one_holder(ev):
        return ""
    same, _ = verbs_of(e, n, ev.comparison)
    turning = bool(_turning(n))
    if not same or (tells_event(n) and not turning) or (tells_event(e) and not _turning(e)):
        return ""
    many = is_many_valued(e) and is_many_valued(n) and not turning
    if many and word.casefold() != "instead":
        return ""
    return word if _values_part(ev) else ""


def takes_place(ev: Evidence) -> bool:
    """Whether the new statement tells a change of just the aspect the existing one is about.

    Wider than `replaced_by`: "uses X" may be met by "switched to Y", "lives in X" by "moved to Y".
    """
    if replaced_by(ev):
        return True
    e, n = ev.existing, ev.new
    if not _turning(n) or _is_aside(ev) or not _one_holder(ev) or e.negative:
        return False
    if e.verb_at >= len(e.tokens) or tells_event(e):
        return False
    mine, theirs = _outside_subject(ev.left_existing), _outside_subject(ev.left_new)
    theirs = [word for word in theirs if word.position != n.verb_at]
    if not mine or not theirs or len(mine) > 3 or len(theirs) > 3 or not _of_a_kind(mine, theirs):
        return False
    if any(q.kind not in _TIMES for q in (*e.quantities, *n.quantities)):
        return False
    if {n.slots[word.position] for word in theirs} - {"to"} or "from" in n.slots:
        # "Switched to Danish for meetings", "from oat milk to almond milk" are of something else.
        return False
    verb, slots = e.tokens[e.verb_at], {e.slots[word.position] for word in mine}
    if verb.stem in _EMPLOYED and slots <= _EMPLOYING:
        # "Works at X", "changed to Y".
        return all(word.is_name for word in (*mine, *theirs))
    if n.tokens[n.verb_at].stem in _MOVING and not (slots & {OBJECT}):
        stays = verb.stem in _STAYING or is_copular(e.tokens, e.verb_at)
        return stays and slots <= _SITES and all(word.is_name for word in mine)
    relocated = n.tokens[n.verb_at].stem in _RELOCATING
    return verb.stem in _CHOOSING and slots <= {OBJECT, "on"} and not relocated


def goes_on_from(ev: Evidence) -> str:
    """The verb of a further change, from just where the existing statement says one led; or "".

    "Switched from Jira to Linear", then "switched from Linear to Shortcut".
    """
    e, n = ev.existing, ev.new
    word = _turning(n)
    if not word or not _turning(e) or n.negative or e.negative or ev.elsewhere:
        return ""
    if ev.signals.unreal or ev.before.unreal or not _one_holder(ev):
        return ""
    led_to = {place for place, slot in enumerate(e.slots) if slot == "to"}
    met = {
        a.position
        for a, b in ev.comparison.shared
        if a.stem == b.stem and a.position in led_to and n.slots[b.position] == "from"
    }
    named = {each.position for each in e.words if each.position in led_to}
    return word if met and met == named else ""


_TIMES = words("date weekday clock")


def ends_by_name(ev: Evidence) -> bool:
    """Whether the new statement says of the existing one's own value that it is over.

    "Dropped DHL", "instead of Jira", "no longer lives in Rome".
    """
    e, n = ev.existing, ev.new
    if ev.elsewhere or ev.signals.unreal or not _one_holder(ev):
        return False
    values = {
        b.position
        for a, b in ev.comparison.shared
        if a.stem == b.stem and not a.in_subject and _is_value(e, a)
    }
    same, _ = verbs_of(e, n, ev.comparison)
    other = {word.position for word in ev.left_new}
    return any(
        # Who gave up oat milk may take milk.
        place in span and (place == span.start or place - 1 not in other)
        for span, is_state in endings_of(n)
        if same or not is_state
        for place in values
    )


def _is_value(reading: Reading, word: Word) -> bool:
    return word.position != reading.verb_at and reading.slots[word.position] not in {SUBJECT, VERB}


def _is_aside(ev: Evidence) -> bool:
    s = ev.signals
    if ev.elsewhere or s.additive or s.unreal or s.temporary or s.condition:
        return True
    return bool(ev.before.unreal or ev.before.past or ev.before.temporary or ev.before.condition)


def _one_holder(ev: Evidence) -> bool:
    """Whether both are about the same thing or person, with nothing else in their subjects."""
    c = ev.comparison
    if any(w.in_subject for w in (*c.left_existing, *c.left_new) if w.text not in _FILLERS):
        return False
    if any(a.in_subject and b.in_subject and a.stem != b.stem for a, b in c.shared):
        # The user's father and the user's parents.
        return False
    mine, theirs = subject_names(ev.existing), subject_names(ev.new)
    if mine and theirs:
        return any(same_name(a, b) for a in mine for b in theirs)
    return any(a.in_subject and b.in_subject for a, b in c.shared)


_FILLERS = words("now new current currently meanwhile back over no longer any more anymore")


def _values_part(ev: Evidence) -> bool:
    """Whether one value of each is left over in the same place, and they may be of one kind."""
    c = ev.comparison
    mine, theirs = _outside_subject(ev.left_existing), _outside_subject(ev.left_new)
    if c.oppositions:
        return len(mine) <= 2 and len(theirs) <= 2
    if not mine or not theirs or len(mine) > 3 or len(theirs) > 3 or c.equal_values:
        return False
    places_e = {ev.existing.slots[w.position] for w in mine}
    places_n = {ev.new.slots[w.position] for w in theirs}
    if places_e != places_n or not places_e - {ASIDE, VERB}:
        return False
    return _of_a_kind(mine, theirs)


def _of_a_kind(mine: list[Word], theirs: list[Word]) -> bool:
    """Whether nothing is known of the two that makes them things of different kinds."""
    kinds_e = {row for w in mine for row, _ in w.kinds}
    kinds_n = {row for w in theirs for row, _ in w.kinds}
    return not (kinds_e and kinds_n) or not kinds_e.isdisjoint(kinds_n)


def _outside_subject(left: tuple[Word, ...]) -> list[Word]:
    return [w for w in left if not w.in_subject and w.text not in _FILLERS]
