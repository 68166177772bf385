"""The words and values of a statement in their order, and what parts two that are alike."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from ..reading.frames import Reading, kept_by_reading
from ..reading.tables import words
from .aligning import root

# Texts that share this much word by word differ in what one of them says otherwise.
_ALIKE = 0.5
# These alone make no other statement of the same words.
IDLE = words(
    "a an the this that these those of to in on at by for from with is are was were be been has "
    "have had do does did will would 's as and it its his her their our my your now currently so "
    "also too about any s there s' who which"
)

_WHOLE = words("all every each any whole entire")
_ALL = "all"


class Unit(NamedTuple):
    """A word or a value of a statement, by what it can be told again: its key and its groups."""

    key: str
    text: str
    position: int
    groups: frozenset[int] = frozenset()
    is_verb: bool = False


@kept_by_reading
def units(reading: Reading) -> tuple[Unit, ...]:
    """The statement's words and values in their order, each value one."""
    groups = {word.position: word.groups for word in reading.words}
    values = {quantity.start: quantity for quantity in reading.quantities}
    found: list[Unit] = []
    position = 0
    while position < len(reading.tokens):
        token = reading.tokens[position]
        value = values.get(position)
        if value is not None:
            # What is counted mostly stands behind the figure, as a unit of its own.
            behind = reading.tokens[value.end].stem if value.end < len(reading.tokens) else ""
            head = "" if value.head == behind else root(value.head)
            key = f"{value.kind} {value.value} {value.parts} {head}"
            found.append(Unit(key, value.text, position))
            position = max(value.end, position + 1)
            continue
        if not token.separator:
            key = _ALL if token.lower in _WHOLE else token.stem
            if position and token.text == "A":
                # "Blood type A", "vitamin A": no article.
                key = token.text
            known = groups.get(position, frozenset())
            found.append(Unit(key, token.lower, position, known, position == reading.verb_at))
        position += 1
    return tuple(found)


def steps_between(
    first: Sequence[Unit], second: Sequence[Unit]
) -> list[tuple[str, int, int, int, int]]:
    """What parts two texts that are alike word by word, as `difflib` has it; else nothing."""
    matcher = SequenceMatcher(
        None, [each.key for each in first], [each.key for each in second], autojunk=False
    )
    if matcher.ratio() < _ALIKE:
        return []
    return [each for each in matcher.get_opcodes() if each[0] != "equal"]


def is_one(a: Unit, b: Unit) -> bool:
    """Whether the two are known to mean the same."""
    return a.key == b.key or root(a.key) == root(b.key) or bool(a.groups & b.groups)
