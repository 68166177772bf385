"""Memories by their ids, as an answer shows them, in one statement whose text is made once.

The ORM takes longer to write this statement than PostgreSQL to answer it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any
from uuid import UUID

from django.db import connection, models

from memory.domain.viewer import Viewer
from memory.models import Memory, MemoryUsage
from memory.selectors.prepared import fetch_planned
from memory.selectors.revisions import REVISION, Revision
from memory.selectors.signal_statement import Shape
from teams.models import Agent, EndUser, Project

# The alias is that of the compiled rule of visibility. Each id is looked up by itself, which OFFSET
# makes sure of: with a list or a join a planner without statistics reads the whole team.
_STATEMENT = """
SELECT ({revision}), {columns}
FROM unnest(%(ids)s::uuid[]) AS wanted (id)
CROSS JOIN LATERAL (
    SELECT * FROM memory_memory m WHERE m.team_id = %(team)s AND m.id = wanted.id OFFSET 0
) AS memory_searchentry
LEFT JOIN teams_agent agent ON agent.team_id = %(team)s
    AND agent.id = memory_searchentry.agent_id
LEFT JOIN teams_enduser end_user ON end_user.team_id = %(team)s
    AND end_user.id = memory_searchentry.end_user_id
LEFT JOIN teams_project project ON project.team_id = %(team)s
    AND project.id = memory_searchentry.project_id
LEFT JOIN memory_memoryusage usage ON usage.team_id = %(team)s
    AND usage.memory_id = memory_searchentry.id
WHERE {visible}
    AND (cardinality(%(categories)s::text[]) = 0
        OR memory_searchentry.category = ANY (%(categories)s::text[]))
"""
# What an answer names of each, besides its keys; everything else is read when it is asked for.
_NAMED: Mapping[str, tuple[type[models.Model], str]] = {
    "agent": (Agent, "slug"),
    "end_user": (EndUser, "external_id"),
    "project": (Project, "slug"),
}
_MEMORY = list(Memory._meta.concrete_fields)
_USAGE = list(MemoryUsage._meta.concrete_fields)
_MEMORY_NAMES = [field.attname for field in _MEMORY]
_USAGE_NAMES = [field.attname for field in _USAGE]


def memories_by_id(*, viewer: Viewer, ids: Sequence[UUID]) -> dict[UUID, Memory]:
    """The memories of those ids that the viewer may see, with the names an answer needs."""
    return memories_and_revision(viewer=viewer, ids=ids)[0]


def memories_and_revision(
    *, viewer: Viewer, ids: Sequence[UUID]
) -> tuple[dict[UUID, Memory], Revision | None]:
    """The memories of those ids that the viewer may see, and the revision of the same moment.

    No revision in a transaction that has written, and none where there are no memories.
    """
    if not ids:
        return {}, None
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
    rows = fetch_planned(statement, given)
    if not rows:
        return {}, None
    revision = rows[0][0]
    names: dict[tuple[str, UUID], models.Model] = {}
    found = (_memory(row, names) for row in rows)
    return {each.pk: each for each in found}, Revision(*revision) if revision else None


@cache
def _statement(of_agent: bool, of_user: bool, of_project: bool) -> str:
    shape = Shape(of_agent=of_agent, of_user=of_user, of_project=of_project)
    columns = [f"memory_searchentry.{field.column}" for field in _MEMORY]
    columns += [f"usage.{field.column}" for field in _USAGE]
    columns += [f"{alias}.{column}" for alias, (_, column) in _NAMED.items()]
    return _STATEMENT.format(revision=REVISION, columns=", ".join(columns), visible=shape.visible)


def _memory(row: Sequence[Any], names: dict[tuple[str, UUID], models.Model]) -> Memory:
    alias = connection.alias
    memory: Memory = Memory.from_db(alias, _MEMORY_NAMES, row[1 : 1 + len(_MEMORY)])
    rest = row[1 + len(_MEMORY) :]
    usage, called = rest[: len(_USAGE)], rest[len(_USAGE) :]
    known: dict[str, Any] = memory._state.fields_cache
    known["usage"] = (
        MemoryUsage.from_db(alias, _USAGE_NAMES, usage) if usage[0] is not None else None
    )
    for (name, (model, column)), text in zip(_NAMED.items(), called, strict=True):
        key = getattr(memory, f"{name}_id")
        if text is None:
            continue
        if (name, key) not in names:
            given = (key, memory.team_id, text)
            names[name, key] = model.from_db(alias, ["id", "team_id", column], given)
        known[name] = names[name, key]
    return memory
