"""Whether two statements say one thing twice: what parts two texts that look like repetitions.

A wrong repetition loses a fact for good, so that nothing may be left over that is not known to
mean the same.
"""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import NamedTuple

from .aligning import root
from .evidence import Evidence
from .frames import Reading, kept_by_reading
from .quantities import Quantity
from .tables import words

# Texts that share this much word by word differ in what one of them says otherwise.
_ALIKE = 0.5
# These alone make no other statement of the same words.
_IDLE = words(
    "a an the this that these those of to in on at by for from with is are was were be been has "
    "have had do does did will would 's as and it its his her their our my your now currently so "
    "also too about any s there s' who which"
)

_WHOLE = words("all every each any whole entire")
_ALL = "all"


class _Unit(NamedTuple):
    """A word or a value of a statement, by what it can be told again: its key and its groups."""

    key: str
    text: str
    position: int
    groups: frozenset[int] = frozenset()
    is_verb: bool = False


def told_otherwise(ev: Evidence) -> str:
    """What differs where one text is the other but for a few words, unless it means the same.

    "Has a son", "has a daughter"; "before noon", "after noon"; "costs $12", "costs 12 euros".
    """
    first, second = _units(ev.existing), _units(ev.new)
    # "Two tablets", "two capsules": an equal figure, of something else.
    same = {(a.start, b.start) for a, b in ev.comparison.equal_values if _of_one(a, b)}
    apart = {
        (i, j)
        for one, other in ev.comparison.contrasts
        for i in range(one.start, one.end)
        for j in range(other.start, other.end)
    }
    matcher = SequenceMatcher(
        None, [each.key for each in first], [each.key for each in second], autojunk=False
    )
    if matcher.ratio() < _ALIKE:
        return ""
    for step, i, j, k, m in matcher.get_opcodes():
        if step != "replace":
            continue
        mine = [each for each in first[i:j] if each.key not in _IDLE]
        theirs = [each for each in second[k:m] if each.key not in _IDLE]
        if len(mine) != 1 or len(theirs) != 1:
            # "Has no job", "is out of work": about other words for it others decide.
            continue
        a, b = mine[0], theirs[0]
        places = (a.position, b.position)
        if a.is_verb or b.is_verb or places in same:
            continue
        if _is_one(a, b) and places not in apart:
            continue
        if any(each.key == a.key for each in second) or any(each.key == b.key for each in first):
            # Told in another order.
            continue
        return f"something else is told: {a.text} / {b.text}"
    return ""


def _of_one(a: Quantity, b: Quantity) -> bool:
    return not (a.head and b.head) or root(a.head) == root(b.head)


def _is_one(a: _Unit, b: _Unit) -> bool:
    """Whether the two are known to mean the same."""
    return a.key == b.key or root(a.key) == root(b.key) or bool(a.groups & b.groups)


@kept_by_reading
def _units(reading: Reading) -> tuple[_Unit, ...]:
    """The statement's words and values in their order, each value one."""
    groups = {word.position: word.groups for word in reading.words}
    values = {quantity.start: quantity for quantity in reading.quantities}
    units: list[_Unit] = []
    position = 0
    while position < len(reading.tokens):
        token = reading.tokens[position]
        value = values.get(position)
        if value is not None:
            key = f"{value.kind} {value.value} {value.parts} {root(value.head)}"
            units.append(_Unit(key, value.text, position))
            position = max(value.end, position + 1)
            continue
        if not token.separator:
            key = _ALL if token.lower in _WHOLE else token.stem
            known = groups.get(position, frozenset())
            units.append(_Unit(key, token.lower, position, known, position == reading.verb_at))
        position += 1
    return tuple(units)


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
