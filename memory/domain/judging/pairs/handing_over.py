"""One takes over from another: whose place it was, which place, and what that says of a state."""

from __future__ import annotations

from typing import NamedTuple

from ...types import Verdict
from ..reading.frames import Reading, Word, kept_by_reading
from ..reading.slots import OBJECT, SUBJECT, is_copular
from ..reading.tables import words
from ..reading.tokens import stem
from .compare import same_name
from .endings import endings_of
from .evidence import Evidence
from .holders import HOLDING
from .tellings import tells_event

_TAKE = stem("take")
_BELONG = stem("belong")
_OWNING = frozenset({_BELONG, stem("own")})
_REPLACING = frozenset(stem(verb) for verb in words("replace succeed relieve supplant"))
_HANDING = frozenset(stem(verb) for verb in words("hand pass give"))
_VERBS = _REPLACING | _HANDING | {_TAKE}
_PLACES = words("place role post position job")
_POSTS = _PLACES | words(
    "title office leadership ownership directorship management direction responsibility command "
    "running care"
)
_PARTICLES = words("over on")
_AUXILIARIES = words("was were been got")


class Handover(NamedTuple):
    """Token positions of who had it before, and of the words that say what it is."""

    before: frozenset[int]
    post: frozenset[int]


_NOTHING = Handover(frozenset(), frozenset())


def on_handover(ev: Evidence) -> tuple[Verdict, str] | None:
    """How a handover stands to a state of the one who had the place before; None for no such pair.

    It ends the state where both are of one place, in whichever order they come, and leaves any
    other be: "Marta leads design", "Olga took over marketing from Marta".
    """
    e, n = ev.existing, ev.new
    news = handover_of(n)
    told = news or handover_of(e)
    if told is None:
        return None
    handed, state = (n, e) if news else (e, n)
    if not _is_state(state) or ev.signals.unreal or ev.before.unreal:
        return None
    if not _is_of(state, handed, told):
        return None
    c = ev.comparison
    left_state, left_handed = (
        (c.left_existing, c.left_new) if news else (c.left_new, c.left_existing)
    )
    mine = [w for w in left_state if not w.is_name and _tells_place(state, w)]
    mine += [w for w in left_state if w.is_name and not _is_of_name(handed, told, w)]
    theirs = [w for w in left_handed if w.position in told.post]
    if not told.post:
        return None
    if max(told.post) < handed.verb_at:
        further = [w for w in left_state if not w.is_name and w.stem not in HOLDING | _OWNING]
        met = _is_met(ev, told, state)
        if further and (not met or further[0].position == state.verb_at):
            # "Otto lives on the farm", "the farm passed from Otto to his son".
            return Verdict.COEXIST, f"a handover, which says nothing of this: {further[0].text}"
        if not met:
            return Verdict.DISPUTE, "a handover by the same one, nothing says of what"
        if further:
            # "The billing service", "billing" may be one.
            return None
    if mine and theirs:
        if not _is_other_place(ev, {w.position for w in mine}, {w.position for w in theirs}, news):
            return None
        return Verdict.COEXIST, f"a handover of something else: {mine[0].text} / {theirs[0].text}"
    if [w for w in theirs if w.stem not in HOLDING]:
        return None
    if news:
        return Verdict.SUPERSEDE, handed.tokens[handed.verb_at].text
    return Verdict.DISPUTE, "the earlier statement says that this is over"


def _is_met(ev: Evidence, told: Handover, state: Reading) -> bool:
    """Whether the state speaks of what passed on, and not only of a like deed."""
    pairs = ((a, b) if state is ev.existing else (b, a) for a, b in ev.comparison.shared)
    return any(
        there.position in told.post and mine.position != state.verb_at for mine, there in pairs
    )


def _is_other_place(ev: Evidence, mine: set[int], theirs: set[int], news: Handover | None) -> bool:
    """Whether no word of the place is common, or one with another word before it.

    "Signs off invoices", "took over the approval of invoices" may be one.
    """
    met = [
        (a.position, b.position) if news else (b.position, a.position)
        for a, b in ev.comparison.shared
        if not a.is_name
    ]
    post = (news or handover_of(ev.existing) or _NOTHING).post
    met = [(state, handed) for state, handed in met if handed in post]
    return all(state - 1 in mine and handed - 1 in theirs for state, handed in met)


@kept_by_reading
def handover_of(reading: Reading) -> Handover | None:
    """Who handed what over, where a statement tells that somebody took another one's place."""
    verb = reading.verb_at
    root = reading.tokens[verb].stem if verb < len(reading.tokens) else ""
    if root not in _VERBS or verb in reading.denied or not tells_event(reading):
        return None
    lowers = [token.lower for token in reading.tokens]
    behind = lowers[verb + 1 : verb + 7]
    if root == _TAKE and "over" in behind:
        before = _names_in(reading, {"from"})
    elif root == _TAKE and not _PLACES.isdisjoint(behind):
        before = _owners_in(reading, verb)
    elif root in _REPLACING:
        passive = not _AUXILIARIES.isdisjoint(lowers[reading.head : verb])
        before = _names_in(reading, {SUBJECT} if passive else {OBJECT})
        return Handover(before, _words_in(reading, {"as"}, before)) if before else None
    elif root in _HANDING and behind[:1] == ["from"] and "to" in behind:
        return _passed_on(reading)
    elif root in _HANDING and not _PARTICLES.isdisjoint(behind) and _names_in(reading, {"to"}):
        before = _names_in(reading, {SUBJECT})
    else:
        return None
    post = _words_in(reading, {OBJECT, "over", "on", "as"}, before)
    return Handover(before, post) if before else None


def _passed_on(reading: Reading) -> Handover | None:
    """ "The farm passed from Otto to his son": what is handed over is the subject."""
    before = _names_in(reading, {"from"})
    post = {w.position for w in reading.words if w.in_subject and w.text not in _POSTS}
    return Handover(before, frozenset(post)) if before and post else None


def _names_in(reading: Reading, slots: set[str]) -> frozenset[int]:
    return frozenset(
        i
        for name in reading.names
        for i in range(name.start, name.end)
        if reading.slots[name.start] in slots
    )


def _owners_in(reading: Reading, verb: int) -> frozenset[int]:
    return frozenset(
        i
        for name in reading.names
        for i in range(name.start, name.end)
        if name.is_owner and name.start > verb
    )


def _words_in(reading: Reading, slots: set[str], names: frozenset[int]) -> frozenset[int]:
    return frozenset(
        word.position
        for word in reading.words
        if word.position > reading.verb_at
        and reading.slots[word.position] in slots
        and word.position not in names
        and not (word.text in _PLACES and word.position == reading.verb_at + 1)
    )


def _is_state(reading: Reading) -> bool:
    """Whether it tells how it is, and not what was or happened."""
    if reading.negative or tells_event(reading) or endings_of(reading):
        return False
    return reading.verb not in {"was", "were", "had"} and handover_of(reading) is None


def _is_of(state: Reading, handed: Reading, told: Handover) -> bool:
    """Whether the state is of who had the place before."""
    is_copula = is_copular(state.tokens, state.verb_at)
    belonging = {"by", "to"} if state.tokens[state.verb_at].stem == _BELONG else {"by"}
    return any(
        same_name(mine, theirs)
        for theirs in handed.names
        if theirs.start in told.before
        for mine in state.names
        if not mine.is_owner
        and (mine.is_subject or is_copula or state.slots[mine.start] in belonging)
    )


def _is_of_name(handed: Reading, told: Handover, word: Word) -> bool:
    return any(word.text in name.parts for name in handed.names if name.start in told.before)


def _tells_place(reading: Reading, word: Word) -> bool:
    """Whether a word says what is held, and not that it is ("leads", "is responsible for")."""
    return not (word.position == reading.verb_at and word.stem in HOLDING)
