"""What of a prompt says the same, so that it is told once: memories, and messages beside them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from ..duplicates import likeness, said_likeness, said_saying, saying
from ..packing import Item
from .plan import Entry, Text, Written

# What stands in a section: a memory or a text, as it is printed.
Shown = tuple[Entry | Text, Written]


def saying_of(shown: Shown) -> Hashable | None:
    """Equal for what says the same; None for what is no statement, such as a skill."""
    if isinstance(shown[0], Entry):
        return saying(shown[0].line)
    return said_saying(shown[0].said) if shown[0].said else None


def likeness_of(shown: Shown) -> Hashable | None:
    """Equal wherever `saying_of` is, and found sooner."""
    if isinstance(shown[0], Entry):
        return likeness(shown[0].line)
    return said_likeness(shown[0].said) if shown[0].said else None


def without_what_memories_say(items: Sequence[Item[Shown]]) -> list[Item[Shown]]:
    """The items without the messages that say what a memory says, which takes their rank."""
    alike: dict[Hashable, list[Item[Shown]]] = {}
    for item in items:
        if isinstance(item.value[0], Text) and item.value[0].said:
            alike.setdefault(likeness_of(item.value), []).append(item)
    if not alike:
        return list(items)
    ranks: dict[int, float] = {}
    gone: set[int] = set()
    for item in items:
        if isinstance(item.value[0], Text):
            continue
        for text in alike.get(likeness_of(item.value), ()):
            if saying_of(text.value) == saying_of(item.value):
                gone.add(id(text))
                ranks[id(item)] = max(ranks.get(id(item), item.score), text.score)
    return [
        item._replace(score=ranks[id(item)]) if id(item) in ranks else item
        for item in items
        if id(item) not in gone
    ]
