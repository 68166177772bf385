"""A stage of what one does is no end of it: "is learning Italian", "passed the A2 exam"."""

from __future__ import annotations

from ..reading.frames import Reading, kept_by_reading
from ..reading.slots import OBJECT
from ..reading.tables import words
from ..reading.tokens import Token, stem
from .aligning import root
from .clauses import clauses_of
from .evidence import Evidence
from .tellings import tells_event

_REACHING = frozenset(
    stem(verb)
    for verb in words(
        "pass finish complete reach get achieve submit receive earn win sit deliver publish obtain "
        "clear close conclude wrap"
    )
)
_PARTS = frozenset(
    stem(noun)
    for noun in words(
        "level grade module unit lesson chapter section part phase stage milestone semester term "
        "round lap theory badge midterm mock checkpoint sprint draft half third quarter paper "
        "essay assignment step prelim scene verse volume prototype wireframe rotation placement "
        "belt intermediate beginner first second"
    )
)
# Of what is learnt for as long as one likes, no exam is the last.
_EXAMS = frozenset(stem(noun) for noun in words("exam examination test quiz certificate workshop"))
_LEARNING = words("learning learns studying studies practising practicing practises student")
_FINAL = words(
    "final finals last all every remaining whole entire bar degree diploma doctorate driving "
    "licence license permit viva defence thesis graduation"
)
_NEXT_THING = words("of in on at for from with to by after before because and but")
_PARTICLES = words("in up off")
_HAND = stem("hand")
_WAITING = words("awaiting waiting waits await awaits expects pending probation applied review")
_IDLE = words(
    "a an the his her their its our my your up off out yesterday today recently last now already"
)


def reaches_stage(ev: Evidence) -> str:
    """The stage that one statement tells was reached of what the other tells, or ""."""
    c = ev.comparison
    if c.oppositions or c.polarity or (c.other_values and not ev.ending):
        return ""
    if not (ev.ending or _is_of_one(ev)):
        return ""
    return _stage_of(ev.existing, ev.new) or _stage_of(ev.new, ev.existing)


def _stage_of(state: Reading, event: Reading) -> str:
    if tells_event(state) or not tells_event(event) or len(clauses_of(event)) > 1:
        return ""
    reached = _reached(event)
    if not reached or not _FINAL.isdisjoint(token.lower for token in reached):
        return ""
    if not _WAITING.isdisjoint(state.lowers):
        return ""
    said = {root(word.stem) for word in state.words if not word.in_subject}
    about = {word.stem for word in state.words if word.in_subject}
    if any(token.stem in about for token in reached):
        # "The printer is out of order", "got the printer going".
        return ""
    aims = {word.stem for word in state.words if state.slots[word.position] == "for"}
    if any(token.stem in aims for token in reached):
        # "Is studying for the bar exam".
        return ""
    # "The first aid course" is no first of several.
    known = {token.stem for token in state.tokens}
    more = [token for token in reached[:-1] if token.stem not in known]
    is_numbered = any(_is_numbering(token) for token in more)
    if root(reached[-1].stem) in said and not is_numbered:
        return ""
    is_part = is_numbered or reached[-1].stem in _PARTS or _is_coded(reached[-1])
    if not is_numbered and _is_last_of(state, reached):
        return ""
    is_exam = reached[-1].stem in _EXAMS and _is_learnt(state)
    if is_part or is_exam or _is_part_of_it(event, reached, said) or _is_other(state, event):
        return f"a stage of it: {' '.join(token.text for token in reached)}"
    return ""


def _is_numbering(token: Token) -> bool:
    """ "Second", "first-year", "A2"."""
    return any(stem(part) in _PARTS for part in token.lower.split("-")) or _is_coded(token)


def _is_learnt(reading: Reading) -> bool:
    """Whether it tells of learning what has no last exam, as driving has."""
    return not _LEARNING.isdisjoint(reading.lowers) and _DRIVING.isdisjoint(reading.lowers)


_DRIVING = words("drive driving")


def _is_last_of(state: Reading, reached: tuple[Token, ...]) -> bool:
    """ "Is learning to sail", "got her sailing certificate": what the learning is for."""
    if reached[-1].stem not in _PROOFS:
        return False
    aims = {root(token.stem) for token in _aims(state)}
    return any(root(token.stem) in aims for token in reached[:-1])


_PROOFS = frozenset(stem(noun) for noun in words("exam examination test certificate certification"))
_SPOKEN = words("speak read write understand play")


def _aims(reading: Reading) -> tuple[Token, ...]:
    """What somebody learns to do or to be: "to sail", "to be a notary"."""
    verb = reading.verb_at
    if verb + 2 >= len(reading.tokens) or reading.tokens[verb + 1].lower != "to":
        return ()
    first = reading.tokens[verb + 2]
    if first.lower in _SPOKEN:
        return ()
    if first.lower not in {"be", "become"}:
        return (first,)
    behind = reading.tokens[verb + 3 :]
    end = next((i for i, token in enumerate(behind) if token.separator), len(behind))
    return tuple(behind[:end])


def _is_of_one(ev: Evidence) -> bool:
    """Whether both are told of one subject."""
    e, n = ev.existing, ev.new
    bare = e.head == e.start and n.head == n.start
    return bare or any(a.in_subject and b.in_subject for a, b in ev.comparison.shared)


def _is_part_of_it(reading: Reading, reached: tuple[Token, ...], said: set[str]) -> bool:
    """ "The hull of the boat": whether what was reached is told to be of the whole.

    The migration of what somebody migrates is the whole.
    """
    if any(_alike(reached[-1].stem, each) for each in said):
        return False
    end = next(i for i, token in enumerate(reading.tokens) if token is reached[-1]) + 1
    behind = reading.tokens[end : end + 4]
    return (
        bool(behind)
        and behind[0].lower == "of"
        and any(root(token.stem) in said for token in behind)
    )


def _is_other(state: Reading, event: Reading) -> bool:
    """ "Is renovating the house", "finished the kitchen": another thing than what is under way."""
    verb, reached = state.verb_at, _reached(event)
    done = state.tokens[verb : verb + 1]
    if event.tokens[event.verb_at].stem not in _FINISHING or not done:
        return False
    if not done[0].lower.endswith("ing") or done[0].stem in _OPEN or reached[-1].stem in _WHOLES:
        return False
    mine = [
        word
        for word in state.words
        if word.position > verb and state.slots[word.position] == OBJECT
    ]
    theirs = next((w for w in event.words if event.tokens[w.position] is reached[-1]), None)
    if not mine or theirs is None or theirs.is_name:
        return False
    said = {root(word.stem) for word in state.words if not word.in_subject}
    if any(done[0].stem in verbs and theirs.stem in nouns for verbs, nouns in _DEEDS):
        return False
    told = any(_alike(theirs.stem, each) for each in said)
    return not told and not any(
        word.groups & theirs.groups or {r for r, _ in word.kinds} & {r for r, _ in theirs.kinds}
        for word in mine
    )


_FINISHING = frozenset(stem(verb) for verb in words("finish complete"))
# What one does as long as something else lasts.
_OPEN = frozenset(stem(verb) for verb in words("take do work train study learn wait save look"))
_WHOLES = frozenset(
    stem(noun)
    for noun in words(
        "work job project task thing book text manuscript thesis dissertation report degree "
        "studies training course programme program school university apprenticeship internship "
        "move renovation construction build building house home translation treatment game film "
        "series"
    )
)


# What one does, and the nouns for having done it.
_DEEDS = tuple(
    (
        frozenset(stem(verb) for verb in words(verbs)),
        frozenset(stem(noun) for noun in words(nouns)),
    )
    for verbs, nouns in (
        (
            "fix mend repair restore patch service overhaul refit",
            "repair repairs fix overhaul service maintenance restoration refit",
        ),
        (
            "migrate upgrade update move port switch convert transfer replace modernise modernize",
            "upgrade update migration move switch conversion transfer replacement rollout "
            "switchover",
        ),
        (
            "plan prepare organise organize arrange host",
            "preparation preparations arrangement arrangements planning organisation organization",
        ),
        ("move relocate pack unpack", "move relocation packing unpacking"),
        ("renovate refurbish redo rebuild redecorate remodel", "works refurbishment rebuild"),
        ("clean tidy clear", "cleaning clean-up cleanup clearance tidying"),
    )
)


def _alike(one: str, other: str) -> bool:
    return one[:_ALIKE] == other[:_ALIKE] and len(min(one, other, key=len)) >= _ALIKE


_ALIKE = 4


def _is_coded(token: Token) -> bool:
    """ "A2", "grade 3"."""
    return any(character.isdigit() for character in token.text)


@kept_by_reading
def _reached(reading: Reading) -> tuple[Token, ...]:
    """The noun group behind a verb of reaching, without its article; empty for another verb."""
    verb = reading.verb_at
    if verb >= len(reading.tokens) or verb in reading.denied:
        return ()
    behind = reading.tokens[verb + 1 :]
    particle = behind[0].lower if behind else ""
    handed_in = reading.tokens[verb].stem == _HAND and particle == "in"
    if reading.tokens[verb].stem not in _REACHING and not handed_in:
        return ()
    found: list[Token] = []
    for token in behind[1:] if particle in _PARTICLES else behind:
        if token.separator or token.lower in _NEXT_THING:
            break
        if token.lower not in _IDLE:
            found.append(token)
    return tuple(found)
