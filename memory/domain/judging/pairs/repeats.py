"""Whether two statements say one thing twice: what parts two texts that look like repetitions.

A wrong repetition loses a fact for good, so that nothing may be left over that is not known to
mean the same.
"""

from __future__ import annotations

from ..reading.frames import Reading
from ..reading.names import Name
from ..reading.quantities import Quantity
from ..reading.tables import words
from .aligning import root
from .change_words import FILLERS
from .evidence import Evidence
from .tellings import tells_event, verbs_of
from .units import IDLE, Unit, is_one, steps_between, units
from .unmatched import unmatched


def told_otherwise(ev: Evidence) -> str:
    """What differs where one text is the other but for a few words, unless it means the same.

    "Has a son", "has a daughter"; "before noon", "after noon"; "costs $12", "costs 12 euros".
    """
    first, second = units(ev.existing), units(ev.new)
    # "Two tablets", "two capsules": an equal figure, of something else.
    same = {(a.start, b.start) for a, b in ev.comparison.equal_values if _of_one(a, b)}
    apart = {
        (i, j)
        for one, other in ev.comparison.contrasts
        for i in range(one.start, one.end)
        for j in range(other.start, other.end)
    }
    found = _further_value(ev) or _other_end(ev) or _somebody_else(ev) or _denied_on_one(ev)
    found = found or unmatched(ev)
    if found:
        return found
    steps = steps_between(first, second)
    mine = [unit for _, i, j, _, _ in steps for unit in first[i:j] if unit.key not in IDLE]
    theirs = [unit for _, _, _, k, m in steps for unit in second[k:m] if unit.key not in IDLE]
    found = _other_doing(mine, theirs)
    if not mine or not theirs:
        found = _other_head(ev.existing, mine) or _other_head(ev.new, theirs)
    if found:
        return found
    for step, i, j, k, m in steps:
        if step != "replace":
            continue
        mine = [unit for unit in first[i:j] if unit.key not in IDLE]
        theirs = [unit for unit in second[k:m] if unit.key not in IDLE]
        if len(mine) != 1 or len(theirs) != 1:
            # "Has no job", "is out of work": about other words for it others decide.
            continue
        a, b = mine[0], theirs[0]
        places = (a.position, b.position)
        if a.is_verb or b.is_verb or places in same:
            continue
        if is_one(a, b) and places not in apart:
            continue
        if any(each.key == a.key for each in second) or any(each.key == b.key for each in first):
            # Told in another order.
            continue
        return f"something else is told: {a.text} / {b.text}"
    return ""


def _further_value(ev: Evidence) -> str:
    """A value of one side alone, of the kind of one that both tell.

    "Room 12", "not room 12 any more, room 40".
    """
    c = ev.comparison
    for reading, met in (
        (ev.existing, [a for a, _ in c.equal_values]),
        (ev.new, [b for _, b in c.equal_values]),
    ):
        for value in reading.quantities:
            for other in met:
                if value not in met and (value.kind, value.head) == (other.kind, other.head):
                    return f"a further value is told: {value.text}"
    return ""


def _denied_on_one(ev: Evidence) -> str:
    """ "Drinks no coffee", "drinks three coffees a day": one verb, denied on one side alone."""
    e, n, c = ev.existing, ev.new, ev.comparison
    if _denies(e) == _denies(n) or (e.exclusive and n.exclusive):
        return ""
    figures = [a for a, b in c.equal_values if a.end > e.head or b.end > n.head]
    if figures or not verbs_of(e, n, c)[0]:
        return ""
    told, denied = (n, e) if _denies(e) else (e, n)
    if c.agreements and (denied.quantities or not told.quantities):
        return ""
    return f"denied on one side: {e.tokens[e.verb_at].text}"


def _denies(reading: Reading) -> bool:
    return reading.negative or not _NO.isdisjoint(reading.lowers)


_NO = words("no none never nobody nothing")


def _somebody_else(ev: Evidence) -> str:
    """ "Ken has root", "Ken and Aiko have root": somebody the other side does not know of."""
    for reading, left in ((ev.existing, ev.left_existing), (ev.new, ev.left_new)):
        lost = {word.position for word in left if word.in_subject and word.is_name}
        for name in reading.names:
            told = lost.issuperset(range(name.start, name.end)) and name.start > reading.start
            if told and not name.text.isupper() and name.text.lower() != "user":
                return f"somebody else is told of: {name.text}"
        first = reading.names[0] if reading.names else None
        if first and first.start in lost and _is_doer(reading, first):
            return f"somebody else is told of: {first.text}"
    return ""


def _is_doer(reading: Reading, name: Name) -> bool:
    """Whether a statement opens with a name that is nothing but one, and tells what it did."""
    alone = name.start == reading.start and name.end == reading.head
    return alone and tells_event(reading) and reading.tokens[name.start].lower not in _ANYBODY


_ANYBODY = words("whoever somebody someone user")


def _other_end(ev: Evidence) -> str:
    """ "Gave it to Max", "got it from Max": where the one leads to, the other comes from."""
    for a, b in ev.comparison.shared:
        slots = ev.existing.slots[a.position], ev.new.slots[b.position]
        if a.stem == b.stem and slots in _ENDS:
            return f"the other way: {slots[0]} / {slots[1]} {b.text}"
    return ""


_ENDS = (("to", "from"), ("from", "to"))


def _other_doing(mine: list[Unit], theirs: list[Unit]) -> str:
    """Verbs known to mean two things, where nothing else differs: "arrives", "leaves"."""
    if len(mine) != 1 or len(theirs) != 1:
        return ""
    a, b = mine[0], theirs[0]
    if a.is_verb and b.is_verb and a.groups and b.groups and not is_one(a, b):
        return f"something else is done: {a.text} / {b.text}"
    return ""


def _other_head(reading: Reading, more: list[Unit]) -> str:
    """A noun that ends the subject and is all that one says more: "the pool", "the pool bar"."""
    nouns = [w for w in reading.words if w.in_subject and w.text not in FILLERS]
    if len(more) != 1 or len(nouns) < 2 or nouns[-1].position != more[0].position:
        return ""
    return "" if nouns[-1].is_name else f"something of it is told: {more[0].text}"


def _of_one(a: Quantity, b: Quantity) -> bool:
    return not (a.head and b.head) or root(a.head) == root(b.head)


def subject_alone(ev: Evidence) -> str:
    """Whether nothing but what they are about is common to two statements that each say more.

    "Starts at ten", "lasts an hour".
    """
    c, e, n = ev.comparison, ev.existing, ev.new
    if any(not (a.in_subject and b.in_subject) for a, b in c.shared):
        return ""
    if any(a.end > e.head or b.end > n.head for a, b in c.equal_values):
        return ""
    met = [value for pair in c.equal_values for value in pair]
    says_more = (
        left or any(value not in met for value in reading.quantities)
        for reading, left in ((e, ev.left_existing), (n, ev.left_new))
    )  # fmt: skip
    return "only what they are about is common to both" if all(says_more) else ""
