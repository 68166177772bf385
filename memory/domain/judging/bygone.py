"""A statement of what an earlier one says is over: "smokes", stated after "quit smoking"."""

from __future__ import annotations

from .change import is_past_event
from .endings import endings_of
from .evidence import Evidence
from .replacing import ends_by_name, replaced_by, takes_place, values_left
from .tables import words

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
    """Whether the new statement tells nothing but its verb that the existing one does not."""
    met = [value for _, value in ev.comparison.equal_values]
    left = [word for word in values_left(ev.left_new) if word.position != ev.new.verb_at]
    return not left and all(value in met for value in ev.new.quantities)
