"""Loads memories with their names in one statement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any, TypeVar
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS, models
from django.db.models.base import ModelState

from memory.domain.audience import Viewer
from memory.models import Memory, MemoryUsage
from memory.models.querysets import visible_to_q
from memory.selectors.filters import Kind, viewer_parameters, viewer_sql
from memory.selectors.sql_files import load_sql_parts
from teams.models import Agent, EndUser, Project
from teams.prepared import fetch_planned

_M = TypeVar("_M", bound=models.Model)


def built(model: type[_M], values: dict[str, Any]) -> _M:  # Any: a column's value of any type
    """A stored row as `Model.from_db` makes it, but its fields at once: that sets them one by one.

    `values` are by the attributes' names and become the instance's own; a field that is not among
    them is read when it is asked for.
    """
    row = model.__new__(model)
    row.__dict__ = values
    row._state = ModelState()
    row._state.adding = False
    row._state.db = DEFAULT_DB_ALIAS
    return row


_SQL = load_sql_parts(__file__, "memories.sql")
# Whom a memory belongs to, and the name of each that an answer shows.
_OWNERS: Sequence[tuple[str, type[Agent | EndUser | Project], str]] = (
    ("agent", Agent, "slug"),
    ("end_user", EndUser, "external_id"),
    ("project", Project, "slug"),
)
_MEMORY = [field.attname for field in Memory._meta.concrete_fields]
# Answers hold how often in all, not by day.
_OF_USAGE = [field for field in MemoryUsage._meta.concrete_fields if field.name != "daily"]
_USAGE = [field.attname for field in _OF_USAGE]


def memories_by_id(*, viewer: Viewer, ids: Sequence[UUID]) -> dict[UUID, Memory]:
    """The memories of those ids that the viewer may see, with usage and the names of their owners.

    Everything else of an owner is read from the database when it is asked for.
    """
    if not ids:
        return {}
    statement = _statement(replace(Kind.of(viewer), has_allowlist=False))
    given = {
        **viewer_parameters(viewer),
        "categories": ["", *viewer.allowed_categories] if viewer.allowed_categories else [],
        "ids": list(ids),
    }
    memories = (_memory(row) for row in fetch_planned(statement, given))
    return {memory.pk: memory for memory in memories}


def _memory(row: Sequence[Any]) -> Memory:  # Any: a column's value
    """The memory of a row: the names of its owners, its own columns, those of its usage."""
    start, end = len(_OWNERS), len(_OWNERS) + len(_MEMORY)
    memory = built(Memory, dict(zip(_MEMORY, row[start:end], strict=True)))
    known: dict[str, Any] = memory._state.fields_cache
    usage = row[end:]
    known["usage"] = None
    if usage[0] is not None:
        known["usage"] = built(MemoryUsage, dict(zip(_USAGE, usage, strict=True)))
    for (alias, model, column), name in zip(_OWNERS, row[:start], strict=True):
        key = getattr(memory, f"{alias}_id")
        if key is not None and name is not None:
            values = {"id": key, "team_id": memory.team_id, column: name}
            known[alias] = built(model, values)
    return memory


@cache
def _statement(kind: Kind) -> str:
    columns = [f"memory_searchentry.{field.column}" for field in Memory._meta.concrete_fields]
    columns += [f"usage.{field.column}" for field in _OF_USAGE]
    visible = viewer_sql(visible_to_q, kind=kind)
    return _SQL["by_id"].format(columns=", ".join(columns), visible=visible)
