"""What one began or gave up: another doing each time, or the end of the same one."""

from __future__ import annotations

from typing import NamedTuple

from ...types import Verdict
from ..reading.frames import Reading, Word, kept_by_reading
from ..reading.slots import OBJECT
from ..reading.tables import words
from ..reading.tokens import stem
from .compare import same_name
from .evidence import Evidence
from .tellings import tells_event

_BEGINNING = frozenset(stem(verb) for verb in words("start begin commence"))
_ENDING = frozenset(stem(verb) for verb in words("stop quit cease"))
_TAKE, _GIVE = stem("take"), stem("give")
_ADVERBS = words("again recently lately regularly finally already just today yesterday last")


class Doing(NamedTuple):
    """What somebody began or, where not `is_begun`, gave up."""

    is_begun: bool
    told: tuple[Word, ...]
    placed: tuple[Word, ...]


def on_doings(ev: Evidence) -> tuple[Verdict, str] | None:
    """How a doing begun or given up stands to another such; None for no such pair.

    "Stopped smoking", "started running" leave each other alone; "started smoking", "stopped
    smoking" are one after the other.
    """
    e, n = ev.existing, ev.new
    first, then = doing_of(e), doing_of(n)
    if first is None or then is None or not _is_of_one(e, n):
        return None
    if first.is_begun != then.is_begun and (_is_all_of(then, first) or _is_all_of(first, then)):
        return Verdict.SUPERSEDE, f'an explicit change ("{n.tokens[n.verb_at].text}")'
    if _meet(first.told[0], then.told[0]) and first.is_begun != then.is_begun:
        if _further(first, then) and _further(then, first):
            return Verdict.COEXIST, f"something else is done: {_text(first)} / {_text(then)}"
        return Verdict.SUPERSEDE, f'an explicit change ("{n.tokens[n.verb_at].text}")'
    if any(_meet(a, b) for a in first.told for b in then.told):
        return None
    return Verdict.COEXIST, f"something else is done: {_text(first)} / {_text(then)}"


@kept_by_reading
def doing_of(reading: Reading) -> Doing | None:
    """What the main verb tells was begun or given up; None where it tells no such thing."""
    verb = reading.verb_at
    if verb >= len(reading.tokens) or verb in reading.denied or not tells_event(reading):
        return None
    root, behind = reading.tokens[verb].stem, reading.tokens[verb + 1 : verb + 2]
    particle = bool(behind) and behind[0].lower == "up"
    is_begun = root in _BEGINNING or (root == _TAKE and particle)
    if not is_begun and root not in _ENDING and not (root == _GIVE and particle):
        return None
    told = tuple(
        word
        for word in reading.words
        if word.position > verb
        and reading.slots[word.position] == OBJECT
        and word.text not in _ADVERBS
    )
    placed = tuple(word for word in reading.words if reading.slots[word.position] in _PLACES)
    return Doing(is_begun, told, placed) if told else None


def _is_of_one(e: Reading, n: Reading) -> bool:
    """Whether one named person or thing does both."""
    return any(same_name(a, b) for a in e.names for b in n.names if a.is_subject and b.is_subject)


def _meet(a: Word, b: Word) -> bool:
    return a.stem == b.stem or bool(a.groups & b.groups)


def _further(one: Doing, other: Doing) -> bool:
    """ "Drinking coffee", "drinking tea": whether one tells of a thing that the other does not."""
    return any(not any(_meet(word, each) for each in other.told) for word in one.told[1:])


def _is_all_of(one: Doing, other: Doing) -> bool:
    """ "Working at the bakery", "the bakery": whether `one` names nothing but what `other` is of.

    A use of it by another word ("taking", "using") or the house where it is done is no other thing.
    """
    things = [word for word in one.told if not _is_doing(word)]
    doings = [word for word in one.told if _is_doing(word)]
    acts = [word for word in other.told if _is_doing(word)]
    if not things or not all(_is_met(word, other) for word in things):
        return False
    if not doings:
        # Who gave up bread may bake bread.
        is_object = any(_meet(word, each) for word in things for each in other.told)
        return not is_object or all(act.stem in _USING | _LEARNING for act in acts)
    used = all(act.stem in _USING for act in acts)
    return all(
        any(_meet(word, act) for act in acts) or (used and word.stem in _USING) for word in doings
    )


def _is_met(word: Word, doing: Doing) -> bool:
    """Whether the word is of the doing, or names the place that such a doing has."""
    houses = (_HOUSES.get(each.stem, frozenset()) for each in doing.told)
    met = any(_meet(word, each) for each in (*doing.told, *doing.placed))
    return met or any(word.text in each for each in houses)


def _is_doing(word: Word) -> bool:
    return word.text.endswith("ing")


_PLACES = frozenset({"at", "in", "for", "with", "on"})
_USING = frozenset(
    stem(verb) for verb in words("take use have do get consume eat drink smoke play practise wear")
)
_LEARNING = frozenset(stem(verb) for verb in words("learn study teach practice work train run"))
_HOUSES = {
    stem("study"): words("university college uni studies school course degree"),
    stem("work"): words("job position work"),
    stem("teach"): words("school job"),
}


def _text(doing: Doing) -> str:
    return " ".join(word.text for word in doing.told[:2])


_CHOOSING = frozenset(stem(verb) for verb in words("choose select elect appoint"))
_SO_CHOSEN = frozenset({OBJECT, "for", "as"})


def on_choices(ev: Evidence) -> tuple[Verdict, str] | None:
    """ "Chose the blue design", "chose the green design": one choice told in two ways, or None."""
    e, n, c = ev.existing, ev.new, ev.comparison
    verbs = e.tokens[e.verb_at : e.verb_at + 1], n.tokens[n.verb_at : n.verb_at + 1]
    if not (verbs[0] and verbs[1]) or verbs[0][0].stem != verbs[1][0].stem:
        return None
    if verbs[0][0].stem not in _CHOOSING or not (tells_event(e) and tells_event(n)):
        return None
    if ev.signals.change or ev.signals.additive or ev.signals.correction or ev.elsewhere:
        return None
    mine = [word for word in c.left_existing if e.slots[word.position] in _SO_CHOSEN]
    theirs = [word for word in c.left_new if n.slots[word.position] in _SO_CHOSEN]
    places = {e.slots[w.position] for w in mine}, {n.slots[w.position] for w in theirs}
    if _post(e) != _post(n):
        return None
    alone = len(places[0]) == 1 and places[0] == places[1] and not c.other_values
    kept = any(not (a.in_subject or a.position == e.verb_at) for a, _ in c.shared)
    if not alone or not (kept or all(word.is_name for word in (*mine, *theirs))):
        # "Selected a caterer", "selected a venue".
        return None
    return Verdict.DISPUTE, f"two choices: {mine[-1].text} / {theirs[-1].text}"


def _post(reading: Reading) -> str:
    """ "Elected her as chair": as what somebody was chosen, or ""."""
    lowers = [token.lower for token in reading.tokens]
    return lowers[lowers.index("as") + 1] if "as" in lowers[:-1] else ""
