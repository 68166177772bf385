"""Memories by their ids, as an answer shows them, by statements whose text is made once.

The ORM takes longer to write them than PostgreSQL to answer. Rows that this process has read
already are not read again while a search finds them in the same version.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from datetime import datetime
from functools import cache, lru_cache
from operator import itemgetter
from typing import Any, TypeVar
from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.db import DEFAULT_DB_ALIAS, models
from django.db.models.base import ModelState

from memory.domain.viewer import Viewer
from memory.models import Memory, MemoryUsage
from memory.selectors.known import Known
from memory.selectors.known_rows import KnownRow, KnownRows, Version
from memory.selectors.prepared import fetch_planned
from memory.selectors.revisions import Revision
from memory.selectors.signal_statement import Shape
from teams.models import Agent, EndUser, Project

_M = TypeVar("_M", bound=models.Model)
# The alias is that of the compiled rule of visibility. Each id is looked up by itself, which OFFSET
# makes sure of: with a list or a join the planner may read the whole team.
_STATEMENT = """
SELECT memory_searchentry.row_xmin, memory_searchentry.row_ctid, usage.row_xmin, usage.row_ctid,
    {columns}
FROM unnest(%(ids)s::uuid[]) AS wanted (id)
CROSS JOIN LATERAL (
    SELECT *, m.xmin AS row_xmin, m.ctid AS row_ctid FROM memory_memory m
    WHERE m.team_id = %(team)s AND m.id = wanted.id OFFSET 0
) AS memory_searchentry
LEFT JOIN LATERAL (
    SELECT *, o.xmin AS row_xmin, o.ctid AS row_ctid FROM memory_memoryusage o
    WHERE o.team_id = %(team)s AND o.memory_id = wanted.id OFFSET 0
) AS usage ON TRUE
WHERE {visible}
    AND (cardinality(%(categories)s::text[]) = 0
        OR memory_searchentry.category = ANY (%(categories)s::text[]))
"""
_VERSION_COLUMNS = 4
_OF_NAME = """
SELECT '{alias}' AS alias, row.id, row.{column}
FROM unnest(%({alias})s::uuid[]) AS named (id)
CROSS JOIN LATERAL (
    SELECT * FROM {table} o WHERE o.team_id = %(team)s AND o.id = named.id OFFSET 0
) AS row
"""
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
_EMPTY: Sequence[tuple[str, Callable[[], object]]] = [
    (field.attname, list if isinstance(field, ArrayField) else dict)
    for field in _MEMORY
    if isinstance(field, ArrayField | models.JSONField)
]
_MEMORY_NAMES = [field.attname for field in _MEMORY]
_USAGE_NAMES = [field.attname for field in _USAGE]
_ID = _MEMORY_NAMES.index("id")
_OWNERS = {alias: _MEMORY_NAMES.index(f"{alias}_id") for alias in _NAMED}
_OWNERS_PLACES = list(_OWNERS.items())
_NAMES = " UNION ALL ".join(
    _OF_NAME.format(alias=alias, column=column, table=model._meta.db_table)
    for alias, (model, column) in _NAMED.items()
)
# Where a memory holds the row it was made of.
_ROW = "known_row"
_KEPT = [field for field in _MEMORY if field.attname not in _APART]
_COUNTED = [field for field in _USAGE if field.attname not in _APART]
_kept_values = itemgetter(*(field.attname for field in _KEPT))
_usage_values = itemgetter(*(field.attname for field in _COUNTED))
_NO_USAGE = (None,) * len(_COUNTED)
_rows = KnownRows()
# By team: the revision under which names were read, and those names.
_called = Known()
_MOST_NAMES = 5_000
_Names = dict[tuple[str, UUID], models.Model]


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


def memories_by_id(
    *,
    viewer: Viewer,
    ids: Sequence[UUID],
    versions: Mapping[UUID, Version] | None = None,
    revision: Revision | None = None,
) -> dict[UUID, Memory]:
    """The memories of those ids that the viewer may see, with the names an answer needs.

    `versions` are those of memories that the same transaction has found to be visible: what is
    known of them is not read again. `revision` is the team's in this transaction.
    """
    if not ids:
        return {}
    known = _rows.latest(team_id=viewer.team_id, versions=versions or {})
    rows = {**known, **_read(viewer, [each for each in ids if each not in known])}
    names = _names(viewer.team_id, rows.values(), revision)
    return {pk: _memory(row.values, names, row) for pk, row in rows.items()}


def _read(viewer: Viewer, ids: Sequence[UUID]) -> dict[UUID, KnownRow]:
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
    found = {}
    for each in fetch_planned(statement, given):
        row = KnownRow(each[:_VERSION_COLUMNS], each[_VERSION_COLUMNS:])
        memory_id = row.values[_ID]
        _rows.learn(team_id=viewer.team_id, memory_id=memory_id, row=row)
        found[memory_id] = row
    return found


def _names(team_id: UUID, rows: Iterable[KnownRow], revision: Revision | None) -> _Names:
    """The agents, people and projects of the rows; a change of a name moves the revision."""
    before = _called.get(team_id)
    is_known = before is not None and revision is not None and before[0] == revision.memories
    names: _Names = before[1] if is_known else {}
    wanted: dict[str, set[UUID]] = {}
    for row in rows:
        for alias, place in _OWNERS.items():
            key = row.values[place]
            if key is not None and (alias, key) not in names:
                wanted.setdefault(alias, set()).add(key)
    if not wanted:
        return names
    names = names.copy() if len(names) < _MOST_NAMES else {}
    given = {alias: list(wanted.get(alias, ())) for alias in _NAMED}
    for alias, pk, text in fetch_planned(_NAMES, {**given, "team": team_id}):
        model, column = _NAMED[alias]
        names[alias, pk] = _built(model, {"id": pk, "team_id": team_id, column: text})
    if revision is not None:
        _called.put(team_id, (revision.memories, names))
    return names


def row_as_json(memory: Memory) -> str:
    """What `memories_by_id` had read of one of its memories, as a list in JSON; the id first."""
    known: Any = memory._state.fields_cache
    called = tuple(
        getattr(known[name], column) if known.get(name) else None
        for name, (_, column) in _NAMED.items()
    )
    row: KnownRow = known[_ROW]
    return f"{row.as_json(_columns(memory))}, {_end_of_row(called)}"


@lru_cache(maxsize=1_024)
def _end_of_row(called: tuple[str | None, ...]) -> str:
    return json.dumps(called)[1:]


def _columns(memory: Memory) -> Iterator[Any]:
    usage = memory._state.fields_cache.get("usage")
    yield from _kept_values(memory.__dict__)
    yield from _NO_USAGE if usage is None else _usage_values(usage.__dict__)


def memories_of_rows(*, team_id: UUID, rows: Iterable[Sequence[Any]]) -> dict[UUID, Memory]:
    """The memories of rows that were kept as JSON, where ids and times became text."""
    found = {}
    names: _Names = {}
    for row in rows:
        values = list(row)
        for place, read in _READERS:
            if values[place] is not None:
                values[place] = read(values[place])
        has_usage = values[len(_KEPT)] is not None
        apart = (values[0], team_id) if has_usage else (None, None)
        columns = len(_KEPT) + len(_COUNTED)
        whole = (team_id, *values[: len(_KEPT)], *apart, *values[len(_KEPT) : columns])
        for (name, (model, column)), text in zip(_NAMED.items(), values[columns:], strict=True):
            key = whole[_OWNERS[name]]
            if text is not None and (name, key) not in names:
                names[name, key] = _built(model, {"id": key, "team_id": team_id, column: text})
        found[values[0]] = _memory(whole, names)
    return found


@cache
def _statement(of_agent: bool, of_user: bool, of_project: bool) -> str:
    shape = Shape(of_agent=of_agent, of_user=of_user, of_project=of_project)
    nullable = dict(_EMPTY)
    columns = [
        f"nullif(memory_searchentry.{field.column}, '{{}}')"
        if field.attname in nullable
        else f"memory_searchentry.{field.column}"
        for field in _MEMORY
    ]
    columns += [f"usage.{field.column}" for field in _USAGE]
    return _STATEMENT.format(columns=", ".join(columns), visible=shape.visible)


def _memory(row: Sequence[Any], names: _Names, known_row: KnownRow | None = None) -> Memory:
    # The names end before the columns of the usage do.
    memory = _built(Memory, dict(zip(_MEMORY_NAMES, row, strict=False)))
    values = memory.__dict__
    for name, empty in _EMPTY:
        # A row may be known to several answers, each of which may do with its lists what it likes.
        value = values[name]
        values[name] = empty() if value is None else copy(value)
    known: dict[str, Any] = memory._state.fields_cache
    known[_ROW] = known_row
    known["usage"] = None
    if row[len(_MEMORY)] is not None:
        usage = zip(_USAGE_NAMES, row[len(_MEMORY) :], strict=True)
        known["usage"] = _built(MemoryUsage, dict(usage))
    for name, place in _OWNERS_PLACES:
        key = row[place]
        if key is not None and (name, key) in names:
            known[name] = names[name, key]
    return memory


def _built(model: type[_M], values: dict[str, Any]) -> _M:
    """As `Model.from_db`, but its fields at once: it sets them one by one for every row."""
    row = model.__new__(model)
    row.__dict__ = values
    row._state = ModelState()
    row._state.adding = False
    row._state.db = DEFAULT_DB_ALIAS
    return row
