"""Explicit change of one aspect: the new value replaces the old one, whatever kind either is."""

from __future__ import annotations

from ..reading.frames import Reading, Word
from ..reading.slots import ASIDE, OBJECT, SUBJECT, VERB, is_copular
from ..reading.tables import words
from ..reading.tokens import stem
from .change_words import FILLERS, MOVING, change_word, turning
from .compare import same_name
from .endings import endings_of
from .evidence import Evidence
from .subjects import subject_names
from .tellings import is_passive_state, tells_event, verbs_of
from .values import is_many_valued

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
_HOSTING = frozenset(stem(verb) for verb in words("host run store keep deploy build back"))
_SITES = words("in at on")
# Where a place is, beside its name: "in Berlin, near the river".
_NEARBY = words("near by between behind opposite along beside close")
_EMPLOYED = frozenset(stem(verb) for verb in words("work employ"))
_EMPLOYING = words("at for by with")


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
    turns = bool(turning(n))
    if not same or (tells_event(n) and not turns) or (tells_event(e) and not turning(e)):
        return ""
    many = is_many_valued(e) and is_many_valued(n) and not turns
    # What is written in one language is in that one; who writes may write in several.
    many = many and not (is_passive_state(e) and is_passive_state(n))
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
    if _is_aside(ev) or not _one_holder(ev) or e.negative:
        return False
    if _changed_itself(ev):
        return True
    if not turning(n):
        return False
    if e.verb_at >= len(e.tokens) or tells_event(e):
        return False
    mine, theirs = values_left(ev.left_existing), values_left(ev.left_new)
    mine = [word for word in mine if word.position != e.verb_at]
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
        # "Works at X", "changed to Y"; who moved to the town of Y may still work at X.
        of_employers = n.tokens[n.verb_at].stem not in MOVING or slots.isdisjoint(_SITES)
        return of_employers and all(word.is_name for word in (*mine, *theirs))
    if n.tokens[n.verb_at].stem in MOVING and not (slots & {OBJECT}):
        if verb.stem in _HOSTING:
            return slots <= _SITES and all(word.is_name for word in mine)
        stays = verb.stem in _STAYING or is_copular(e.tokens, e.verb_at)
        sites = [word for word in mine if e.slots[word.position] in _SITES]
        named = bool(sites) and all(word.is_name for word in sites)
        return stays and named and slots <= _SITES | _NEARBY
    relocated = n.tokens[n.verb_at].stem in _RELOCATING
    return verb.stem in _CHOOSING and slots <= {OBJECT, "on"} and not relocated


def _changed_itself(ev: Evidence) -> bool:
    """ "The address is X", "the address changed, it is Y now": what it was, it is no more."""
    e, n = ev.existing, ev.new
    verb = n.tokens[n.verb_at : n.verb_at + 1]
    if not (verb and verb[0].stem == _CHANGE and change_word(n) and tells_event(n)):
        return False
    told = [word for word in values_left(ev.left_existing) if word.position != e.verb_at]
    intransitive = OBJECT not in {n.slots[word.position] for word in n.words} - {VERB}
    values = {e.slots[word.position] for word in told} | {e.slots[q.start] for q in e.quantities}
    return is_copular(e.tokens, e.verb_at) and intransitive and values == {OBJECT}


_CHANGE = stem("change")


def goes_on_from(ev: Evidence) -> str:
    """The verb of a further change, from just where the existing statement says one led; or "".

    "Switched from Jira to Linear", then "switched from Linear to Shortcut".
    """
    e, n = ev.existing, ev.new
    word = turning(n)
    if not word or not turning(e) or n.negative or e.negative or ev.elsewhere:
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
    values |= {b.start for a, b in ev.comparison.equal_values if a.start > e.verb_at}
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
    if any(_is_other(ev.existing, w) for w in c.left_existing) or any(
        _is_other(ev.new, w) for w in c.left_new
    ):
        return False
    if any(a.in_subject and b.in_subject and a.stem != b.stem for a, b in c.shared):
        # The user's father and the user's parents.
        return False
    mine, theirs = subject_names(ev.existing), subject_names(ev.new)
    if mine and theirs:
        return any(same_name(a, b) for a in mine for b in theirs)
    return any(a.in_subject and b.in_subject for a, b in c.shared)


_OWNERS = words("team company user firm group")


def _is_other(reading: Reading, word: Word) -> bool:
    """Whether a left-over word of the subject makes another thing of it.

    "The team's office" is "the office" to those who speak.
    """
    if not word.in_subject or word.text in FILLERS:
        return False
    after = reading.tokens[word.position + 1 : word.position + 2]
    return not (word.text in _OWNERS and after and after[0].lower == "'s")


def _values_part(ev: Evidence) -> bool:
    """Whether one value of each is left over in the same place, and they may be of one kind."""
    c = ev.comparison
    mine, theirs = values_left(ev.left_existing), values_left(ev.left_new)
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


def values_left(left: tuple[Word, ...]) -> list[Word]:
    """The left-over words that say something of the subject."""
    return [w for w in left if not w.in_subject and w.text not in FILLERS]
