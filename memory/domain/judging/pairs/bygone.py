"""A statement of what an earlier one says is over: "smokes", stated after "quit smoking"."""

from __future__ import annotations

from ..reading.frames import Reading, Word, kept_by_reading
from ..reading.slots import ASIDE, OBJECT
from ..reading.tables import words
from ..reading.tokens import stem
from .change import is_past_event
from .change_words import FILLERS
from .endings import endings_of
from .evidence import Evidence
from .replacing import ends_by_name, replaced_by, takes_place
from .values_apart import values_left

_WAS = words("was were had did")


def may_be_bygone(ev: Evidence) -> bool:
    """Whether the existing statement tells a change, and the new one a plain state."""
    before, now, new = ev.before, ev.signals, ev.new
    if not (before.change or endings_of(ev.existing)) or before.past or before.unreal:
        return False
    if now.change or now.past or now.unreal or endings_of(new) or is_past_event(new):
        return False
    if any(_is_led_to(ev.existing, value.start) for value, _ in ev.comparison.equal_values):
        return False
    return not (new.negative or ev.elsewhere) and _WAS.isdisjoint(new.lowers)


def _is_led_to(reading: Reading, place: int) -> bool:
    return reading.slots[place] == "to" and place not in _ended(reading)


def is_named_over(turned: Evidence) -> bool:
    """Whether the existing statement says of the new one's own value that it was replaced or ended.

    `turned` is the evidence with the two in each other's place.
    """
    named = replaced_by(turned) or takes_place(turned) or ends_by_name(turned)
    return bool(named) or is_denied_now(turned) or _ends_doing(turned)


_STOPPING = frozenset(
    stem(verb)
    for verb in words(
        "drop end cancel remove withdraw discontinue abolish halt suspend scrap stop quit cease "
        "axe retire terminate"
    )
)


def _ends_doing(ev: Evidence) -> bool:
    """ "Supports Python 3.9", "dropped support for Python 3.9": the doing itself, as a noun."""
    e, n, c = ev.existing, ev.new, ev.comparison
    if n.verb_at >= len(n.tokens) or n.tokens[n.verb_at].stem not in _STOPPING:
        return False
    if n.verb_at in n.denied or ev.elsewhere or c.other_values or not is_past_event(n):
        return False
    if [word for word in values_left(ev.left_existing) if word.position != e.verb_at]:
        return False
    told = max((b.position for a, b in c.shared if not a.in_subject), default=0)
    clause = n.tokens[n.verb_at : told]
    if any(token.separator or token.lower in {"and", "but"} for token in clause):
        # "Stopped drinking coffee and drinks tea".
        return False
    return any(a.position == e.verb_at and n.slots[b.position] == OBJECT for a, b in c.shared)


def is_denied_now(ev: Evidence) -> bool:
    """Whether the new statement says of the existing one's figure that it is so no more.

    "Is set to 4", "is no longer set to 4".
    """
    state, change = ev.existing, ev.new
    others = [
        word
        for word in (*ev.comparison.left_existing, *ev.comparison.left_new)
        if word.in_subject and word.text not in FILLERS
    ]
    if others or ev.elsewhere or ev.signals.unreal:
        return False
    told = {(value.kind, value.value, value.parts) for value in state.quantities}
    verb = state.tokens[state.verb_at : state.verb_at + 1]
    if not verb or all(token.stem != verb[0].stem for token in change.tokens[change.verb_at :]):
        return False
    ended = _ended(change)
    if any(word.position in ended for word in _left(change, ev.left_new)):
        # Who no longer works from home on Mondays may work on Mondays.
        return False
    over = {(v.kind, v.value, v.parts) for v in change.quantities if v.start in ended}
    return bool(over) and over <= told


def adds_nothing(ev: Evidence) -> bool:
    """Whether the new statement tells nothing but its verb, of what the change did away with.

    A change of two values, of which the new statement repeats one, did away with the one that it
    says so of; of a single one, if it did not lead to it.
    """
    met = [value for _, value in ev.comparison.equal_values]
    if any(value not in met for value in ev.new.quantities) or _left(ev.new, ev.left_new):
        return False
    return _tells_over(ev) or not (_left(ev.existing, ev.left_existing) or _confirms(ev))


def _left(reading: Reading, left: tuple[Word, ...]) -> list[Word]:
    """What is left over but for the verb, and for a clause that says why or when."""
    return [
        word
        for word in values_left(left)
        if word.position != reading.verb_at and reading.slots[word.position] != ASIDE
    ]


def _tells_over(ev: Evidence) -> bool:
    """Whether something both tell is what the change is told to lead from, or to end."""
    e, c = ev.existing, ev.comparison
    ended = _ended(e)
    told = {a.position for a, b in c.shared if a.stem == b.stem and b.position != ev.new.verb_at}
    told -= {e.verb_at}
    told |= {a.start for a, _ in c.equal_values}
    return any(place in ended or e.slots[place] == "from" for place in told)


@kept_by_reading
def _ended(reading: Reading) -> frozenset[int]:
    """The tokens that something is said to be over of; a state up to the end of its clause."""
    ended: set[int] = set()
    for span, is_state in endings_of(reading):
        ended.update(span)
        end = span.stop
        while is_state and end < len(reading.tokens):
            token = reading.tokens[end]
            if token.separator or token.lower in _NEXT_CLAUSE:
                break
            ended.add(end)
            end += 1
    return frozenset(ended)


_NEXT_CLAUSE = words("and but because since so")


def _confirms(ev: Evidence) -> bool:
    """Whether a value that both tell is what the change led to: "moved to Rome", "took over QA"."""
    e, c = ev.existing, ev.comparison
    return any(a.start > e.verb_at for a, _ in c.equal_values) or any(
        e.slots[a.position] == "to" or _is_begun(e, a.position)
        for a, b in c.shared
        if a.stem == b.stem and not a.in_subject
    )


def _is_begun(reading: Reading, place: int) -> bool:
    """Whether a verb of beginning stands before it."""
    return any(
        token.stem in _BEGINNING
        or (token.stem == _TAKE and reading.tokens[i + 1].lower in {"over", "up", "on"})
        for i, token in enumerate(reading.tokens[:place])
    )


_TAKE = stem("take")
_BEGINNING = frozenset(
    stem(verb) for verb in words("join start become begin adopt hire buy acquire introduce")
)
