"""Where two statements part: in the subject, the verb, the object or an adjunct."""

from __future__ import annotations

from ..reading.frames import Reading, Word
from ..reading.lexicon import VALUE_ROWS
from ..reading.quantities import Quantity
from ..reading.slots import OBJECT, SUBJECT, VERB, is_copular
from ..reading.tables import words
from ..reading.verbs import is_past_form
from .compare import Comparison
from .evidence import Evidence
from .quantifiers import Extent, extent_of
from .tellings import is_attitude, is_measured, is_norm, left_slots, tells_event, verbs_of
from .values import is_many_valued

_PURPOSES = words("for when during after before while if as")
_PLACES = words("in on at near within inside outside under behind")
_PLAIN_KINDS = frozenset({"count", "number"})


def structure_of(ev: Evidence) -> dict[str, object]:
    """Features of the argument structure of a pair."""
    e, n, c = ev.existing, ev.new, ev.comparison
    same, apart = verbs_of(e, n, c)
    slots_e, slots_n = left_slots(e, ev.left_existing), left_slots(n, ev.left_new)
    both = bool(slots_e) and bool(slots_n)
    common = slots_e & slots_n
    here = not ev.elsewhere
    many = is_many_valued(e) and is_many_valued(n)
    calm = not ev.opposed and not ev.changed
    first, second = extent_of(e), extent_of(n)
    return {
        "same verb": same,
        "verbs apart": apart,
        "verbs apart, calm": apart and calm and here,
        "copulas": is_copular(e.tokens, e.verb_at) and is_copular(n.tokens, n.verb_at),
        "objects part": OBJECT in common,
        "objects part, same verb": OBJECT in common and same,
        "objects part, one verb of many": OBJECT in common and same and many,
        "objects part, verbs apart": OBJECT in common and apart,
        "subjects part": SUBJECT in common,
        "only subjects part": both and slots_e == slots_n == {SUBJECT},
        "purposes part": bool(common & _PURPOSES),
        "places part": bool(common & _PLACES),
        "one slot parts": both and slots_e == slots_n and len(common) == 1,
        "slots differ": both and not common,
        "slots differ, verbs apart": both and not common and apart,
        "value, same verb": bool(c.other_values) and same,
        "value, verbs apart": bool(c.other_values) and apart,
        "value and objects part": bool(c.other_values) and OBJECT in common,
        "value and objects part, same verb": bool(c.other_values) and OBJECT in common and same,
        "values of other things": other_things(c, apart=apart),
        "value of something new": _of_something_new(ev),
        "values in other slots": _other_slots(e, n, c),
        "other times": ev.aspect.startswith("different times"),
        "changed, objects part": ev.changed and OBJECT in common,
        "changed, other modifier": ev.changed and _other_modifier(ev),
        "other modifier anywhere": _other_modifier(ev),
        "event beside": _is_beside(ev),
        "event beside, changed": _is_beside(ev) and ev.changed,
        "adds": ev.signals.additive and not ev.signals.correction and not ev.changed,
        "all and part, both left": {first, second} == {Extent.ALL, Extent.PART} and both,
        "dates part": _dates_part(c),
        "dates part and opposed": _dates_part(c) and ev.opposed,
        "both dated events": _dates_part(c) and tells_event(e) and tells_event(n),
        "equal value but opposed": bool(c.equal_values) and ev.opposed,
        "opposed by event": opposed_by_event(ev) and here,
        "rule broken": _is_rule_broken(first, second, ev),
        "part and case": Extent.PART in (first, second) and first != second,
        "parts": first is second is Extent.PART,
        "all and none": {first, second} == {Extent.ALL, Extent.NONE},
        "all and none opposed": {first, second} == {Extent.ALL, Extent.NONE} and ev.opposed,
        "all in one": (first is Extent.ALL) != (second is Extent.ALL),
        "none in one": (first is Extent.NONE) != (second is Extent.NONE),
        "norm and measurement": is_norm(e) and is_measured(n),
        "of a kind": of_a_kind(c),
        "of a kind, same verb": of_a_kind(c) and same,
        "of a kind, many-valued": of_a_kind(c) and (many or ev.elsewhere != ""),
        "only the subject shared": _only_subject_shared(ev) and apart,
        "only the subject shared, calm": _only_subject_shared(ev)
        and not (ev.changed or ev.clash or tells_event(n)),
        "nothing clashes": not (ev.opposed or c.other_values or ev.clash or c.contrasts)
        and not (c.attributes or ev.changed or ev.ending or c.equal_values),
        "only the subject shared, event": _only_subject_shared(ev) and tells_event(n),
        "changed alike": ev.changed and bool(ev.before.change) and same,
        "attitude and event": is_attitude(e)
        and tells_event(n)
        and not ev.opposed
        and ev.signals.kinds <= {"verb"},
        "other aspect": bool(ev.aspect),
        "only and more": _sole_and_more(e, n) or _sole_and_more(n, e),
        "only and other": (e.exclusive or n.exclusive) and both and same and here,
        "other person and changed": bool(ev.other_person) and ev.changed,
        "other person and event": bool(ev.other_person) and tells_event(n),
        "again": _said_again(e, n),
        "only and any": _sole_and_any(e, n, first, second),
        "changed thing unknown": ev.changed and not _knows_changed(e, n, c),
        "changed thing known": ev.changed and here and _knows_changed(e, n, c),
    }


def _other_modifier(ev: Evidence) -> bool:
    """ "Treasurer of the chess club", "left the rowing club": one noun with other words before."""
    left_e = {w.position for w in ev.left_existing if not w.is_name}
    left_n = {w.position for w in ev.left_new if not w.is_name}
    return any(
        a.position - 1 in left_e and b.position - 1 in left_n
        for a, b in ev.comparison.shared
        if not a.is_name
    )


def _is_beside(ev: Evidence) -> bool:
    """Whether something happened to the subject, and nothing that was said of it is touched."""
    c = ev.comparison
    if c.other_values or c.oppositions or c.polarity or c.attributes or c.equal_values:
        return False
    if ev.ending or ev.signals.correction or not ev.left_existing:
        return False
    happened = tells_event(ev.new) or bool(ev.signals.change)
    return happened and bool(c.shared) and all(a.in_subject for a, _ in c.shared)


def other_things(c: Comparison, *, apart: bool = False) -> bool:
    """Whether the differing figures count different things ("three rooms", "six doors").

    Where the verbs are `apart` ("needs four eggs", "serves six") one noun is enough.
    """
    if not c.other_values:
        return False
    if apart and all({a.kind, b.kind} <= _PLAIN_KINDS for a, b in c.other_values):
        return all(a.head != b.head for a, b in c.other_values)
    return all(_counts_other(a, b, c) for a, b in c.other_values)


def _counts_other(a: Quantity, b: Quantity, c: Comparison) -> bool:
    if a.kind in _PLAIN_KINDS and b.kind in _PLAIN_KINDS and a.head and b.head:
        if a.head == b.head:
            return False
        left_e = {word.stem for word in c.left_existing}
        left_n = {word.stem for word in c.left_new}
        return a.head in left_e and b.head in left_n
    return (a.kind in _PLAIN_KINDS) != (b.kind in _PLAIN_KINDS) and bool(a.head or b.head)


def _of_something_new(ev: Evidence) -> bool:
    """ "Lasts two hours", "has an interval of twenty minutes": a figure of a thing unspoken of."""
    c = ev.comparison
    return bool(c.other_values) and all(
        governor(ev.existing, a, ev.left_existing) or governor(ev.new, b, ev.left_new)
        for a, b in c.other_values
    )


_MEASURES = words(
    "amount number level value size length price cost height weight age capacity width depth rate "
    "fee total sum budget salary rent distance duration speed temperature limit maximum minimum "
    "population area volume share majority"
)


def governor(reading: Reading, quantity: Quantity, left: tuple[Word, ...]) -> str:
    """The noun before "of" that a figure belongs to, if the other side does not know it."""
    i = quantity.start - 1
    if i < 1 or reading.tokens[i].lower != "of":
        return ""
    noun = reading.tokens[i - 1].lower
    known = noun not in _MEASURES and any(word.position == i - 1 for word in left)
    return noun if known else ""


def _other_slots(e: Reading, n: Reading, c: Comparison) -> bool:
    return bool(c.other_values) and all(
        e.slots[a.start] != n.slots[b.start] for a, b in c.other_values
    )


def _dates_part(c: Comparison) -> bool:
    return any(a.kind in {"date", "weekday"} for a, _ in c.other_values)


def opposed_by_event(ev: Evidence) -> bool:
    """Whether what happened in the new statement is the opposite of the existing state."""
    n = ev.new
    if not ev.comparison.oppositions or tells_event(ev.existing):
        return False
    verb = n.tokens[n.verb_at] if n.verb_at < len(n.tokens) else None
    if verb is None or not is_past_form(verb.lower) or n.verb_at in n.denied:
        return False
    auxiliary = n.tokens[n.head].lower if n.head < n.verb_at else ""
    if auxiliary in {"is", "are", "'s"} and n.tokens[n.head + 1].lower != "now":
        return False
    return any(verb.text in quote.split() for _, _, quote in ev.comparison.oppositions)


def _is_rule_broken(first: Extent, second: Extent, ev: Evidence) -> bool:
    """Whether one speaks of all (or none) and the other, of a case, says the opposite."""
    whole = {Extent.ALL, Extent.NONE}
    if Extent.PART in (first, second):
        return False
    return (first in whole) != (second in whole) and (ev.opposed or Extent.NONE in (first, second))


def _said_again(e: Reading, n: Reading) -> bool:
    """ "Runs again": the new statement takes up a state that was over."""
    lowers = {token.lower for token in n.tokens}
    return "again" in lowers and not any(token.lower == "again" for token in e.tokens)


def _sole_and_any(e: Reading, n: Reading, first: Extent, second: Extent) -> bool:
    """ "Only managers may", "anybody may"."""
    return (e.exclusive and second is Extent.ALL) or (n.exclusive and first is Extent.ALL)


def _sole_and_more(sole: Reading, more: Reading) -> bool:
    """ "Only Ann has a key", "Ann and Bo have a key"."""
    if not sole.exclusive or more.exclusive or not sole.names:
        return False
    strangers = [name for name in more.names if not name.parts & sole.lowers]
    return any(name.is_subject for name in strangers)


def _only_subject_shared(ev: Evidence) -> bool:
    """Whether nothing ties the two but whom or what they are about."""
    c = ev.comparison
    if c.other_values or c.oppositions or c.polarity or c.attributes or c.equal_values:
        return False
    if ev.ending or of_a_kind(c) or not (ev.left_existing and ev.left_new):
        return False
    return bool(c.shared) and all(a.in_subject and b.in_subject for a, b in c.shared)


def is_scoped(c: Comparison) -> bool:
    """Whether the two name different members of a set whose members are scopes: two plans."""
    return any(
        row not in VALUE_ROWS for pair in c.contrasts for mark in pair for row, _ in mark.ids
    )


def of_a_kind(c: Comparison) -> bool:
    """Whether the two name different members of a set whose members are values: two colours."""
    return any(a.ids[0][0] in VALUE_ROWS for a, _ in c.contrasts)


def _knows_changed(e: Reading, n: Reading, c: Comparison) -> bool:
    """Whether what changes is what the existing statement is about, and no mere circumstance."""
    core = {SUBJECT, VERB, OBJECT}
    return any(
        e.slots[a.position] in core and n.slots[b.position] in core
        for a, b in c.shared
        if not a.is_name or len(c.shared) == 1
    )
