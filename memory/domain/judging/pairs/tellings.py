"""What a statement tells: a rule, a measurement, an event; and whether two have one verb."""

from __future__ import annotations

from itertools import pairwise

from ..reading.frames import Reading, Word, kept_by_reading
from ..reading.slots import ASIDE, VERB, is_copular
from ..reading.tables import words
from ..reading.verbal import AUXILIARIES
from ..reading.verbs import is_past_form
from .compare import Comparison

_NORMS = words(
    "must should shall target limit maximum minimum max min goal quota required cap ceiling budget "
    "allows allow permits limits limited within supposed meant scheduled planned estimated "
    "estimate expected forecast intended"
)
_NORM_PHRASES = frozenset(
    {
        ("at", "most"),
        ("at", "least"),
        ("up", "to"),
        ("no", "more"),
        ("no", "later"),
        ("may", "be"),
        ("have", "to"),
        ("has", "to"),
    }
)
_MEASURED = words(
    "yesterday average averaged currently stands stood last measured actual actually recently noon "
    "midnight already far now today came spent used held"
)
_HAVING = words("has have had hold holds own owns possess possesses comes come includes features")


@kept_by_reading
def is_norm(reading: Reading) -> bool:
    """Whether the statement says how something ought to be: a rule, a limit, a target."""
    if not _NORMS.isdisjoint(reading.lowers):
        return True
    lowers = [token.lower for token in reading.tokens]
    return any(pair in _NORM_PHRASES for pair in pairwise(lowers))


@kept_by_reading
def is_measured(reading: Reading) -> bool:
    """Whether the statement tells a figure as found at a time, and no rule."""
    if is_norm(reading) or not reading.quantities:
        return False
    return tells_event(reading) or not _MEASURED.isdisjoint(reading.lowers)


@kept_by_reading
def tells_event(reading: Reading) -> bool:
    """Whether the verb that carries the meaning has the form of a past."""
    verb = reading.tokens[reading.verb_at : reading.verb_at + 1]
    if reading.head < reading.verb_at and reading.verb in {"is", "are", "'s"}:
        # "Are handed in" is a habit.
        return False
    return bool(verb) and is_past_form(verb[0].lower)


@kept_by_reading
def is_passive_state(reading: Reading) -> bool:
    """ "Is written in German": what was done to it is the state that it is in."""
    return (
        reading.head < reading.verb_at
        and reading.verb in {"is", "are", "'s"}
        and (is_past_form(reading.tokens[reading.verb_at].lower))
    )


def verbs_of(e: Reading, n: Reading, c: Comparison) -> tuple[bool, bool]:
    """Whether the main verbs say the same, and whether they say unrelated things."""
    first, second = e.tokens[e.verb_at : e.verb_at + 1], n.tokens[n.verb_at : n.verb_at + 1]
    if not first or not second:
        return False, False
    if first[0].stem == second[0].stem:
        return True, False
    if first[0].lower in _HAVING and second[0].lower in _HAVING:
        return True, False
    if any(a.position == e.verb_at and b.position == n.verb_at for a, b in c.shared):
        return True, False
    if first[0].lower in AUXILIARIES and second[0].lower in AUXILIARIES:
        copulas = is_copular(e.tokens, e.verb_at) and is_copular(n.tokens, n.verb_at)
        return copulas, not copulas
    met_e = any(a.position == e.verb_at for a, _ in c.shared)
    met_n = any(b.position == n.verb_at for _, b in c.shared)
    return False, not met_e and not met_n


def left_slots(reading: Reading, left: tuple[Word, ...]) -> set[str]:
    """The slots of left-over words, but for verbs and later clauses."""
    return {reading.slots[word.position] for word in left} - {VERB, ASIDE}


_ATTITUDES = words(
    "likes loves hates dislikes enjoys prefers afraid scared fond fan keen wants hopes fears "
    "thinks finds considers dreams wishes like love hate dislike enjoy prefer"
)


@kept_by_reading
def is_attitude(reading: Reading) -> bool:
    """Whether the statement tells a liking, a fear or a wish, which one deed does not end."""
    return any(token.lower in _ATTITUDES for token in reading.tokens[reading.head :][:5])
