"""Memories by their ids, as an answer shows them, in one statement whose text is made once.

The ORM takes longer to write this statement than PostgreSQL to answer it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import cache
from operator import itemgetter
from typing import Any, TypeVar
from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.db import DEFAULT_DB_ALIAS, models
from django.db.models.base import ModelState

from memory.domain.viewer import Viewer
from memory.models import Memory, MemoryUsage
from memory.selectors.prepared import fetch_planned
from memory.selectors.signal_statement import Shape
from teams.models import Agent, EndUser, Project

_M = TypeVar("_M", bound=models.Model)
# The alias is that of the compiled rule of visibility. Each id is looked up by itself, which OFFSET
# makes sure of: with a list or a join the planner may read the whole team. Few agents, people and
# projects stand behind many memories, so each is looked up once.
_STATEMENT = """
WITH memory_searchentry AS MATERIALIZED (
    SELECT memory_searchentry.*
    FROM unnest(%(ids)s::uuid[]) AS wanted (id)
    CROSS JOIN LATERAL (
        SELECT * FROM memory_memory m WHERE m.team_id = %(team)s AND m.id = wanted.id OFFSET 0
    ) AS memory_searchentry
    WHERE {visible}
        AND (cardinality(%(categories)s::text[]) = 0
            OR memory_searchentry.category = ANY (%(categories)s::text[]))
), {named}
SELECT {columns}
FROM memory_searchentry
LEFT JOIN LATERAL (
    SELECT * FROM memory_memoryusage o
    WHERE o.team_id = %(team)s AND o.memory_id = memory_searchentry.id OFFSET 0
) AS usage ON TRUE
{joins}
"""
_OF_NAME = """{alias} AS MATERIALIZED (
    SELECT row.id, row.{column}
    FROM (SELECT DISTINCT {alias}_id AS id FROM memory_searchentry) AS named
    CROSS JOIN LATERAL (
        SELECT * FROM {table} o WHERE o.team_id = %(team)s AND o.id = named.id OFFSET 0
    ) AS row
)"""
_JOIN = "LEFT JOIN {alias} ON {alias}.id = memory_searchentry.{alias}_id"
# What an answer names of each, besides its keys; everything else is read when it is asked for.
_NAMED: Mapping[str, tuple[type[models.Model], str]] = {
    "agent": (Agent, "slug"),
    "end_user": (EndUser, "external_id"),
    "project": (Project, "slug"),
}
# What a kept row goes without comes first: the team of both, and whose usage it is.
_APART = ("memory_id", "team_id")
_MEMORY = sorted(Memory._meta.concrete_fields, key=lambda field: field.attname not in _APART)
_USAGE = sorted(MemoryUsage._meta.concrete_fields, key=lambda field: field.attname not in _APART)
# What is empty for nearly all of them comes as NULL, which takes no reading.
_EMPTY: Mapping[str, Callable[[], object]] = {
    field.attname: list if isinstance(field, ArrayField) else dict
    for field in _MEMORY
    if isinstance(field, ArrayField | models.JSONField)
}
_MEMORY_NAMES = [field.attname for field in _MEMORY]
_USAGE_NAMES = [field.attname for field in _USAGE]
_KEPT = [field for field in _MEMORY if field.attname not in _APART]
_COUNTED = [field for field in _USAGE if field.attname not in _APART]
_kept_values = itemgetter(*(field.attname for field in _KEPT))
_usage_values = itemgetter(*(field.attname for field in _COUNTED))
_NO_USAGE = (None,) * len(_COUNTED)


def _reader(field: Any) -> Callable[[Any], object] | None:  # Any: a field of any kind
    """How a value of the field is read from JSON where it became text."""
    if isinstance(field, models.ForeignKey):
        return _reader(field.target_field)
    if isinstance(field, models.UUIDField):
        return UUID
    if isinstance(field, models.DateTimeField):
        return datetime.fromisoformat
    of = _reader(field.base_field) if isinstance(field, ArrayField) else None
    return None if of is None else lambda values: [of(value) for value in values]


# Rows that were kept with other columns must not be read as these.
ROW_SHAPE = " ".join([*_MEMORY_NAMES, *_USAGE_NAMES, *_NAMED])
_READERS = [
    (place, read)
    for place, read in enumerate(map(_reader, [*_KEPT, *_COUNTED]))
    if read is not None
]


def memories_by_id(*, viewer: Viewer, ids: Sequence[UUID]) -> dict[UUID, Memory]:
    """The memories of those ids that the viewer may see, with the names an answer needs."""
    if not ids:
        return {}
    statement = _statement(
        viewer.agent_id is not None, viewer.end_user_id is not None, viewer.project_id is not None
    )
    given = {
        "team": viewer.team_id,
        "agent": viewer.agent_id,
        "end_user": viewer.end_user_id,
        "project": viewer.project_id,
        "categories": ["", *viewer.allowed_categories] if viewer.allowed_categories else [],
        "ids": list(ids),
    }
    names: dict[tuple[str, UUID], models.Model] = {}
    found = (_memory(row, names) for row in fetch_planned(statement, given))
    return {each.pk: each for each in found}


def as_row(memory: Memory) -> list[Any]:  # Any: what the columns hold
    """What `memories_by_id` had read of one of its memories, to be kept as JSON; the id first."""
    known = memory._state.fields_cache
    usage = known.get("usage")
    return [
        *_kept_values(memory.__dict__),
        *(_NO_USAGE if usage is None else _usage_values(usage.__dict__)),
        *(
            getattr(known[name], column) if known.get(name) else None
            for name, (_, column) in _NAMED.items()
        ),
    ]


def memories_of_rows(*, team_id: UUID, rows: Iterable[Sequence[Any]]) -> dict[UUID, Memory]:
    """The memories of rows that were kept as JSON, where ids and times became text."""
    found = {}
    names: dict[tuple[str, UUID], models.Model] = {}
    for row in rows:
        values = list(row)
        for place, read in _READERS:
            if values[place] is not None:
                values[place] = read(values[place])
        has_usage = values[len(_KEPT)] is not None
        apart = (values[0], team_id) if has_usage else (None, None)
        whole = (team_id, *values[: len(_KEPT)], *apart, *values[len(_KEPT) :])
        found[values[0]] = _memory(whole, names)
    return found


@cache
def _statement(of_agent: bool, of_user: bool, of_project: bool) -> str:
    shape = Shape(of_agent=of_agent, of_user=of_user, of_project=of_project)
    columns = [
        f"nullif(memory_searchentry.{field.column}, '{{}}')"
        if field.attname in _EMPTY
        else f"memory_searchentry.{field.column}"
        for field in _MEMORY
    ]
    columns += [f"usage.{field.column}" for field in _USAGE]
    columns += [f"{alias}.{column}" for alias, (_, column) in _NAMED.items()]
    named = [
        _OF_NAME.format(alias=alias, column=column, table=model._meta.db_table)
        for alias, (model, column) in _NAMED.items()
    ]
    return _STATEMENT.format(
        columns=", ".join(columns),
        visible=shape.visible,
        named=", ".join(named),
        joins=" ".join(_JOIN.format(alias=alias) for alias in _NAMED),
    )


def _memory(row: Sequence[Any], names: dict[tuple[str, UUID], models.Model]) -> Memory:
    memory = _built(Memory, _MEMORY_NAMES, row[: len(_MEMORY)])
    values = memory.__dict__
    for name, empty in _EMPTY.items():
        if values[name] is None:
            values[name] = empty()
    rest = row[len(_MEMORY) :]
    usage, called = rest[: len(_USAGE)], rest[len(_USAGE) :]
    known: dict[str, Any] = memory._state.fields_cache
    known["usage"] = _built(MemoryUsage, _USAGE_NAMES, usage) if usage[0] is not None else None
    for (name, (model, column)), text in zip(_NAMED.items(), called, strict=True):
        key = getattr(memory, f"{name}_id")
        if text is None:
            continue
        if (name, key) not in names:
            given = (key, memory.team_id, text)
            names[name, key] = _built(model, ["id", "team_id", column], given)
        known[name] = names[name, key]
    return memory


def _built(model: type[_M], names: Sequence[str], values: Sequence[Any]) -> _M:
    """As `Model.from_db`, but its fields at once: it sets them one by one for every row."""
    row = model.__new__(model)
    row.__dict__.update(zip(names, values, strict=True))
    row._state = ModelState()
    row._state.adding = False
    row._state.db = DEFAULT_DB_ALIAS
    return row
