"""The columns that an answer shows of a memory, and the memory that is made of their values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from typing import Any
from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.db import models

from memory.models import Memory, MemoryUsage
from memory.selectors.known_rows import KnownRow
from memory.selectors.showing.built_rows import built
from teams.models import Agent, EndUser, Project

# The agents, people and projects by the field that leads to them and their id.
Names = dict[tuple[str, UUID], models.Model]

# What an answer names of each, besides its keys; everything else is read when it is asked for.
NAMED: Mapping[str, tuple[type[models.Model], str]] = {
    "agent": (Agent, "slug"),
    "end_user": (EndUser, "external_id"),
    "project": (Project, "slug"),
}
# What a kept row goes without comes first: the team of both, and whose usage it is.
APART = ("memory_id", "team_id")
MEMORY = sorted(Memory._meta.concrete_fields, key=lambda field: field.attname not in APART)
USAGE = sorted(MemoryUsage._meta.concrete_fields, key=lambda field: field.attname not in APART)
# What is empty for nearly all of them comes as NULL, which takes no reading.
EMPTY: Sequence[tuple[str, Callable[[], object]]] = [
    (field.attname, list if isinstance(field, ArrayField) else dict)
    for field in MEMORY
    if isinstance(field, ArrayField | models.JSONField)
]
MEMORY_NAMES = [field.attname for field in MEMORY]
USAGE_NAMES = [field.attname for field in USAGE]
OWNERS = {alias: MEMORY_NAMES.index(f"{alias}_id") for alias in NAMED}
_OWNER_PLACES = list(OWNERS.items())
_ID = MEMORY_NAMES.index("id")


class ShownRow:
    """What is known of a memory that an answer shows; the memory is made when it is asked for.

    `values` are those of `MEMORY` and then `USAGE`; `known` is the row that the process keeps of
    it, None for one that came out of a kept answer.
    """

    __slots__ = ("_memory", "_names", "known", "values")

    def __init__(
        self,
        values: Sequence[Any],  # Any: a column's value of any type
        names: Names,
        known: KnownRow | None = None,
    ) -> None:
        self.values, self.known = values, known
        self._names = names
        self._memory: Memory | None = None

    @property
    def id(self) -> UUID:
        """The memory's."""
        found: UUID = self.values[_ID]
        return found

    def __eq__(self, other: object) -> bool:
        """Whether it is of the same memory, as with model instances."""
        return isinstance(other, ShownRow) and other.id == self.id

    def __hash__(self) -> int:
        return hash(self.id)

    @property
    def called(self) -> tuple[str | None, ...]:
        """The names of its agent, end user and project, None for what it has not."""
        found = []
        for alias, place in _OWNER_PLACES:
            key = self.values[place]
            named = self._names.get((alias, key)) if key is not None else None
            found.append(None if named is None else getattr(named, NAMED[alias][1]))
        return tuple(found)

    @property
    def memory(self) -> Memory:
        """The memory with its usage and names, the same object each time."""
        if self._memory is None:
            self._memory = memory_of_row(self.values, self._names)
        return self._memory


def memory_of_row(row: Sequence[Any], names: Names) -> Memory:  # Any: a column's value
    """The memory of the values of `MEMORY` and then `USAGE`, with the names among `names`."""
    # The names end before the columns of the usage do.
    memory = built(Memory, dict(zip(MEMORY_NAMES, row, strict=False)))
    values = memory.__dict__
    for name, empty in EMPTY:
        # A row may be known to several answers, each of which may do with its lists what it likes.
        value = values[name]
        values[name] = empty() if value is None else copy(value)
    known: dict[str, Any] = memory._state.fields_cache
    known["usage"] = None
    if row[len(MEMORY)] is not None:
        usage = zip(USAGE_NAMES, row[len(MEMORY) :], strict=True)
        known["usage"] = built(MemoryUsage, dict(usage))
    for name, place in _OWNER_PLACES:
        key = row[place]
        if key is not None and (name, key) in names:
            known[name] = names[name, key]
    return memory
