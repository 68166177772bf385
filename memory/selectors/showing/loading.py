"""Memories by their ids, as an answer shows them, by statements whose text is made once.

The ORM takes longer to write them than PostgreSQL to answer. Rows that this process has read
already are not read again while a search finds them in the same version.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from uuid import UUID

from memory.domain.viewer import Viewer
from memory.selectors.known import Known
from memory.selectors.known_rows import KnownRow, KnownRows, Version
from memory.selectors.prepared import fetch_planned
from memory.selectors.revisions import Revision
from memory.selectors.searching.signal_statement import Shape
from memory.selectors.showing.built_rows import built
from memory.selectors.showing.shown_rows import (
    EMPTY,
    MEMORY,
    MEMORY_NAMES,
    NAMED,
    OWNERS,
    USAGE,
    Names,
    ShownRow,
)

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
_NAMES = " UNION ALL ".join(
    _OF_NAME.format(alias=alias, column=column, table=model._meta.db_table)
    for alias, (model, column) in NAMED.items()
)
_ID, _CONTENT = MEMORY_NAMES.index("id"), MEMORY_NAMES.index("content")
# A process keeps no rows with longer texts: many of them would fill it.
_SHORT = 4_000
_rows = KnownRows()
# By team: the revision under which names were read, and those names.
_called = Known()
_MOST_NAMES = 5_000


def rows_by_id(
    *,
    viewer: Viewer,
    ids: Sequence[UUID],
    versions: Mapping[UUID, Version] | None = None,
    revision: Revision | None = None,
) -> dict[UUID, ShownRow]:
    """What an answer shows of the memories of those ids, of those that the viewer may see.

    `versions` are those of memories that the same transaction has found to be visible: what is
    known of them is not read again. `revision` is the team's in this transaction.
    """
    if not ids:
        return {}
    known = _rows.latest(team_id=viewer.team_id, versions=versions or {})
    rows = {**known, **_read(viewer, [each for each in ids if each not in known])}
    names = _names(viewer.team_id, rows.values(), revision)
    return {pk: ShownRow(row.values, names, row) for pk, row in rows.items()}


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
        if len(row.values[_CONTENT]) <= _SHORT:
            _rows.learn(team_id=viewer.team_id, memory_id=memory_id, row=row)
        found[memory_id] = row
    return found


def _names(team_id: UUID, rows: Iterable[KnownRow], revision: Revision | None) -> Names:
    """The agents, people and projects of the rows; a change of a name moves the revision."""
    before = _called.get(team_id)
    is_known = before is not None and revision is not None and before[0] == revision.memories
    names: Names = before[1] if is_known and len(before[1]) < _MOST_NAMES else {}
    wanted: dict[str, set[UUID]] = {}
    for row in rows:
        for alias, place in OWNERS.items():
            key = row.values[place]
            if key is not None and (alias, key) not in names:
                wanted.setdefault(alias, set()).add(key)
    if not wanted:
        return names
    names = names.copy()
    given = {alias: list(wanted.get(alias, ())) for alias in NAMED}
    for alias, pk, text in fetch_planned(_NAMES, {**given, "team": team_id}):
        model, column = NAMED[alias]
        names[alias, pk] = built(model, {"id": pk, "team_id": team_id, column: text})
    if revision is not None:
        _called.put(team_id, (revision.memories, names))
    return names


@cache
def _statement(of_agent: bool, of_user: bool, of_project: bool) -> str:
    shape = Shape(of_agent=of_agent, of_user=of_user, of_project=of_project)
    nullable = dict(EMPTY)
    columns = [
        f"nullif(memory_searchentry.{field.column}, '{{}}')"
        if field.attname in nullable
        else f"memory_searchentry.{field.column}"
        for field in MEMORY
    ]
    columns += [f"usage.{field.column}" for field in USAGE]
    return _STATEMENT.format(columns=", ".join(columns), visible=shape.visible)
