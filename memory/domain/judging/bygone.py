"""A statement of what an earlier one says is over: "smokes", stated after "quit smoking"."""

from __future__ import annotations

from .change import is_past_event
from .endings import endings_of
from .evidence import Evidence
from .frames import Reading
from .replacing import ends_by_name, replaced_by, takes_place, values_left
from .tables import words
from .tokens import stem

_WAS = words("was were had did")


def may_be_bygone(ev: Evidence) -> bool:
    """Whether the existing statement tells a change, and the new one a plain state."""
    before, now, new = ev.before, ev.signals, ev.new
    if not (before.change or endings_of(ev.existing)) or before.past or before.unreal:
        return False
    if now.change or now.past or now.unreal or endings_of(new) or is_past_event(new):
        return False
    return not (new.negative or ev.elsewhere) and _WAS.isdisjoint(new.lowers)


def is_named_over(turned: Evidence) -> bool:
    """Whether the existing statement says of the new one's own value that it was replaced or ended.

    `turned` is the evidence with the two in each other's place.
    """
    return bool(replaced_by(turned)) or takes_place(turned) or ends_by_name(turned)


def adds_nothing(ev: Evidence) -> bool:
    """Whether both speak of one value, which the change did not lead to.

    A change of two values, of which the new statement repeats one, names the other as well; what
    it does not say is over by name (`is_named_over`) is the one that holds.
    """
    met = [value for _, value in ev.comparison.equal_values]
    left = [
        word
        for reading, over in ((ev.existing, ev.left_existing), (ev.new, ev.left_new))
        for word in values_left(over)
        if word.position != reading.verb_at
    ]
    return not left and all(value in met for value in ev.new.quantities) and not _confirms(ev)


def _confirms(ev: Evidence) -> bool:
    """Whether a value that both tell is what the change led to: "moved to Rome", "took over QA"."""
    e, c = ev.existing, ev.comparison
    ended = {place for span, _ in endings_of(e) for place in span}
    told = {
        a.position: e.slots[a.position] == "to" or _is_begun(e, a.position)
        for a, b in c.shared
        if a.stem == b.stem and not a.in_subject
    }
    told |= {a.start: True for a, _ in c.equal_values if a.start > e.verb_at}
    return any(is_new for place, is_new in told.items() if place not in ended)


def _is_begun(reading: Reading, place: int) -> bool:
    """Whether a verb of beginning stands before it."""
    return any(
        token.stem in _BEGINNING
        or (token.stem == _TAKE and reading.tokens[i + 1].lower in {"over", "up", "on"})
        for i, token in enumerate(reading.tokens[:place])
    )


_TAKE = stem("take")
_BEGINNING = frozenset(
    stem(verb) for verb in words("join start become begin adopt hire buy get acquire introduce")
)
