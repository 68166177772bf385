"""Explicit change of one aspect: the new value replaces the old one, whatever kind either is."""

from __future__ import annotations

from ..reading.frames import Reading, Word
from ..reading.slots import OBJECT, SUBJECT, VERB, is_copular
from ..reading.tables import words
from ..reading.tokens import stem
from .change_words import FILLERS, MOVING, change_word, turning
from .compare import same_name
from .endings import endings_of
from .evidence import Evidence
from .subjects import subject_names
from .tellings import is_passive_state, tells_event, verbs_of
from .turns import CHOOSING, EMPLOYED, HOSTING, SITES, STAYING, Turn, is_relocated, turn_of
from .values import is_many_valued, is_person
from .values_apart import (
    figures_part,
    kinds_left,
    of_a_kind,
    only_opposed,
    rows_left,
    values_left,
    values_part,
    values_told,
)
from .whose_number import renewed_value

# Where a place is, beside its name: "in Berlin, near the river".
_NEARBY = words("near by between behind opposite along beside close")
_EMPLOYING = words("at for by with")


def replaced_by(ev: Evidence) -> str:
    """The change word by which the new value takes the place of the old one, or "".

    Both must be about one holder and one aspect of it, told by the same verb, with a value of
    each left over in the same place. What one has several of ("likes", "speaks") is only replaced
    where the new statement says that the old is over.
    """
    e, n = ev.existing, ev.new
    word = change_word(n) or renewed_value(ev)
    if not word or n.negative or _is_aside(ev) or not one_holder(ev):
        return ""
    same, _ = verbs_of(e, n, ev.comparison)
    turns = bool(turning(n))
    if not same or (tells_event(n) and not turns) or (tells_event(e) and not turning(e)):
        return ""
    many = is_many_valued(e) and is_many_valued(n) and not turns
    # What is written in one language is in that one; who writes may write in several.
    many = many and not (is_passive_state(e) and is_passive_state(n))
    if many and word.casefold() != "instead" and not only_opposed(ev):
        return ""
    return word if values_part(ev) or figures_part(ev) else ""


def takes_place(ev: Evidence) -> bool:
    """Whether the new statement tells a change of just the aspect the existing one is about.

    Wider than `replaced_by`: "uses X" may be met by "switched to Y", "lives in X" by "moved to Y".
    """
    if replaced_by(ev):
        return True
    e, n = ev.existing, ev.new
    if _is_aside(ev) or not one_holder(ev) or e.negative:
        return False
    if _changed_itself(ev):
        return True
    if not turning(n):
        return False
    if e.verb_at >= len(e.tokens) or tells_event(e):
        return False
    mine, theirs = values_told(e, ev.left_existing), values_told(n, ev.left_new)
    mine = [word for word in mine if word.position != e.verb_at]
    theirs = [word for word in theirs if word.position != n.verb_at and word.text not in _SEASONS]
    if not mine or not theirs or len(mine) > 3 or len(theirs) > 3 or not of_a_kind(mine, theirs):
        return False
    if any(q.kind not in _TIMES for q in (*e.quantities, *n.quantities)):
        return False
    kinds = kinds_left(mine) & kinds_left(theirs)
    if not kinds and not any(word.is_name for word in theirs) and _is_any(n, theirs[0]):
        # "Uses Slack", "switched to a new bank".
        return False
    if {n.slots[word.position] for word in theirs} - {"to"} or "from" in n.slots:
        # "Switched to Danish for meetings", "from oat milk to almond milk" are of something else.
        return False
    verb, slots = e.tokens[e.verb_at], {e.slots[word.position] for word in mine}
    if verb.stem in EMPLOYED and slots <= _EMPLOYING:
        # "Works at X", "changed to Y"; who moved to the town of Y may still work at X.
        known = n.tokens[n.verb_at].stem in MOVING or bool(rows_left(n, theirs))
        return not known and all(word.is_name for word in (*mine, *theirs))
    if n.tokens[n.verb_at].stem in MOVING and not (slots & {OBJECT}):
        if verb.stem in HOSTING:
            return slots <= SITES and all(word.is_name for word in mine)
        stays = verb.stem in STAYING or is_copular(e.tokens, e.verb_at)
        sites = [word for word in mine if e.slots[word.position] in SITES]
        named = bool(sites) and all(word.is_name for word in sites)
        return stays and named and slots <= SITES | _NEARBY
    chosen = verb.stem in CHOOSING and slots <= {OBJECT, "on"} and not is_relocated(n, theirs)
    return chosen and turn_of(ev) is Turn.OF_IT


def may_take_place(ev: Evidence) -> bool:
    """ "Uses Anki", "switched to Quizlet": two names of which nobody knows what they are."""
    return turn_of(ev) is Turn.PERHAPS and not _is_aside(ev) and one_holder(ev)


def _is_any(reading: Reading, word: Word) -> bool:
    """Whether the noun at the word is told as one of its kind ("a new bank")."""
    before = reading.tokens[max(reading.verb_at, word.position - 3) : word.position]
    return any(token.lower in {"a", "an"} for token in before)


def _changed_itself(ev: Evidence) -> bool:
    """ "The address is X", "the address changed, it is Y now": what it was, it is no more."""
    e, n = ev.existing, ev.new
    verb = n.tokens[n.verb_at : n.verb_at + 1]
    if not (verb and verb[0].stem == _CHANGE and change_word(n) and tells_event(n)):
        return False
    told = [word for word in values_left(ev.left_existing) if word.position != e.verb_at]
    intransitive = OBJECT not in {n.slots[word.position] for word in n.words} - {VERB}
    values = {e.slots[word.position] for word in told} | {e.slots[q.start] for q in e.quantities}
    if is_person(e):
        # Who is vegetarian may change to another dentist.
        return False
    return is_copular(e.tokens, e.verb_at) and intransitive and values == {OBJECT}


_CHANGE = stem("change")


_TIMES = words("date weekday clock")
_SEASONS = words("spring summer autumn fall winter")


def ends_by_name(ev: Evidence) -> bool:
    """Whether the new statement says of the existing one's own value that it is over.

    "Dropped DHL", "instead of Jira", "no longer lives in Rome".
    """
    e, n = ev.existing, ev.new
    if ev.elsewhere or ev.signals.unreal or not one_holder(ev):
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


def one_holder(ev: Evidence) -> bool:
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
    if ev.existing.head == ev.existing.start and ev.new.head == ev.new.start:
        # "Drives a Golf", "now drives a Polo".
        return True
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
