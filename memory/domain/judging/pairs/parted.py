"""Verbs of change with a particle, whether or not their object parts the two."""

from __future__ import annotations

from collections.abc import Sequence

from ..reading.frames import Reading, kept_by_reading
from ..reading.tables import words
from ..reading.tokens import Token, stem
from ..reading.verbs import is_past_form

_PARTED_VERBS = {
    "hand": {"over", "back", "in", "on", "down"},
    "give": {"away", "up", "back"},
    "take": {"off", "over", "down", "out", "away", "back"},
    "put": {"off", "back", "down", "forward", "up", "on"},
    "turn": {"off", "on"},
    "switch": {"off", "on", "over"},
    "call": {"off"},
    "bring": {"forward", "back"},
    "push": {"back", "out"},
    "cut": {"down", "back", "short", "off"},
    "shut": {"down"},
    "close": {"down"},
    "pass": {"on", "over"},
    "throw": {"out", "away"},
    "let": {"go"},
    "phase": {"out"},
    "scale": {"down", "up", "back"},
    "roll": {"back", "out"},
    "pick": {"up"},
    "tie": {"knot"},
    "break": {"off", "up"},
    "split": {"up"},
    "tear": {"down", "up"},
    "pull": {"out", "down"},
    "pay": {"back", "off"},
    "sign": {"over", "off"},
    "wind": {"up", "down"},
    "sell": {"off"},
    "write": {"off"},
    "rule": {"out"},
    "drop": {"out", "off"},
    "fall": {"through"},
    "do": {"away"},
    "knock": {"off", "down"},
    "come": {"off"},
    "get": {"rid"},
    "clear": {"up", "out"},
    "step": {"down", "back", "in"},
    "lay": {"off"},
    "move": {"out"},
    "trade": {"in"},
    "set": {"back", "aside"},
}


_PARTED = {stem(verb): particles for verb, particles in _PARTED_VERBS.items()}
_REACH, _FAR = 5, 8


def parted_verb(reading: Reading) -> str:
    """ "handed procurement over", "gave Rex away": a verb of change around its object, or ""."""
    found = parted_at(reading)
    return "" if found is None else " ... ".join(reading.tokens[i].text for i in found)


@kept_by_reading
def parted_at(reading: Reading) -> tuple[int, int] | None:
    """Where a verb of change and its particle stand, if one is told as done."""
    tokens = reading.tokens
    for i, token in enumerate(tokens):
        particles = _PARTED.get(token.stem)
        if particles is None or i in reading.denied:
            continue
        if not is_past_form(token.lower) or is_modal(tokens, i):
            continue
        if i and tokens[i - 1].lower in {"is", "are", "get", "gets"}:
            # "Parcels are dropped off at the gate" is a habit.
            continue
        for j in range(i + 1, min(i + _FAR + 1, len(tokens))):
            if tokens[j].separator:
                break
            if tokens[j].lower not in particles or (j > i + _REACH and tokens[j].lower != "away"):
                continue
            if _puts(reading, i, j) if token.stem == _PUT else not _leads_on(reading, i, j):
                return i, j
    return None


def _puts(reading: Reading, verb: int, particle: int) -> bool:
    """ "Put the price up in May to 5 euros", "put a new roof on"; but "put it up for sale"."""
    lowers = [token.lower for token in reading.tokens]
    if lowers[particle] == "up":
        return any(
            q.kind not in _TIMES and lowers[q.start - 1] in _REACHING
            for q in reading.quantities
            if q.start > particle + 1
        )
    if lowers[particle] == "on":
        on_it = lowers[particle + 1 : particle + 2] == ["it"]
        return on_it or not _FURTHER.isdisjoint(lowers[verb + 1 : particle])
    return not _leads_on(reading, verb, particle)


_PUT = stem("put")
_REACHING = words("to by from is are at")
_FURTHER = words("new another extra further fresh more")


def _leads_on(reading: Reading, verb: int, particle: int) -> bool:
    """Whether what looks like a particle leads to a day or a place: "passed the test on Monday"."""
    after = reading.tokens[particle + 1 : particle + 2]
    if not after or after[0].separator or reading.tokens[particle].lower not in _LEADING:
        return False
    if any(q.start == particle + 1 and q.kind in _TIMES for q in reading.quantities):
        return True
    # "Passed on the shop", "passed the shop on to her"; but "put the pot on the stove".
    noun = after[0].lower in _BEFORE_NOUNS or after[0].capital
    return noun and particle > verb + 1


_LEADING = words("on in over")
_TIMES = words("date weekday clock")
_BEFORE_NOUNS = words(
    "a an the this that these those his her their its our my your new christmas easter"
)

_MODALS = words("may can must should could might cannot need needs to")


def is_modal(tokens: Sequence[Token], i: int) -> bool:
    """Whether "may be", "must be" or "to be" stands before the verb at `i`."""
    before = [token.lower for token in tokens[max(0, i - 3) : i]]
    if "had" in before:
        return False
    return "be" in before and any(word in _MODALS for word in before)
