"""Memories as a viewer may see them: lists, single ones, by their ids, and their versions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from typing import Any, TypeVar
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS, connection, models
from django.db.models import Q
from django.db.models.base import ModelState

from memory.domain.audience import Viewer
from memory.domain.forms import ArtifactQuery
from memory.domain.levels import Level, Levels, levels_of
from memory.domain.tiers import Standing, recent_accesses
from memory.models import Memory, MemoryRelation, MemoryUsage
from memory.models.memory import LIVE
from memory.models.querysets import MemoryQuerySet, visible_to_q
from memory.selectors.filters import (
    lookups,
    names_artifact_q,
    pattern_of,
    viewer_parameters,
    viewer_sql,
)
from teams.errors import NotFoundError
from teams.models import Agent, EndUser, Project
from teams.prepared import fetch_planned, load_sql_parts, uuids
from teams.services.people import slug_called

ALL = "all"
_MOST_RELATED = 50
# A summary names the memories it was made of; an older one by its compaction alone. An episode
# tells what was said then, which only what was deleted since takes back.
_OUTDATED = """
SELECT s.id FROM memory_memory s
LEFT JOIN memory_compaction c
    ON c.team_id = s.team_id AND c.conversation_id = s.conversation_id
    AND c.summary_memory_id = s.id
WHERE s.team_id = %s AND s.id = ANY (%s::uuid[]) AND s.extractor LIKE 'summary:%%' AND EXISTS (
    SELECT FROM jsonb_array_elements_text(coalesce(
        s.payload->'points', jsonb_path_query_array(c.points, '$[*].memory_ids[*]'), '[]'
    )) AS told (id)
    JOIN memory_memory m ON m.team_id = s.team_id AND m.id = told.id::uuid
    WHERE m.status <> ALL (%s::text[])
)
UNION ALL
SELECT s.id FROM memory_memory s
WHERE s.team_id = %s AND s.id = ANY (%s::uuid[]) AND s.extractor LIKE 'episode:%%' AND EXISTS (
    SELECT FROM memory_memory m
    WHERE m.team_id = s.team_id AND m.conversation_id = s.conversation_id
        AND m.status = 'soft_deleted' AND m.source_message_ids && s.source_message_ids
)
UNION ALL
SELECT s.id FROM memory_memory s
WHERE s.team_id = %s AND s.id = ANY (%s::uuid[]) AND s.memory_type = 'insight' AND EXISTS (
    SELECT FROM memory_memoryrelation r
    JOIN memory_memory m ON m.team_id = r.team_id AND m.id = r.to_memory_id
    WHERE r.team_id = s.team_id AND r.from_memory_id = s.id
        AND r.relation_type = 'derived_from'
        AND (m.status = 'soft_deleted' OR m.audience = 'agent' AND s.audience <> 'agent')
)
"""


class PurgedError(NotFoundError):
    """A memory that the caller could see was purged."""


@dataclass(frozen=True, slots=True)
class MemoryFilters:
    """Filters of a list, all of which must hold; `text` is a part of the content, in any case."""

    memory_types: Sequence[str] = ()
    audience: Sequence[str] = ()
    source: Sequence[str] = ()
    status: Sequence[str] = ()
    tier: Sequence[str] = ()
    agent: str | None = None
    user: str | None = None
    project: str | None = None
    conversation: UUID | None = None
    subject: str | None = None
    category: str | None = None
    form: Sequence[str] = ()
    artifact: ArtifactQuery | None = None
    tag: Sequence[str] = ()
    is_pinned: bool | None = None
    min_importance: int | None = None
    max_importance: int | None = None
    created_after: datetime | None = None
    created_before: datetime | None = None
    text: str | None = None


def filtered_memories(*, viewer: Viewer, filters: MemoryFilters) -> MemoryQuerySet:
    """Returns the visible memories that match; live ones unless a status is given."""
    rows = Memory.objects.visible_to(viewer).with_names()
    if not filters.status:
        rows = rows.live()
    elif ALL not in filters.status:
        rows = rows.filter(status__in=filters.status)
    conditions = lookups(
        memory_type__in=filters.memory_types,
        audience__in=filters.audience,
        source__in=filters.source,
        tier__in=filters.tier,
        agent__slug=filters.agent and slug_called(team_id=viewer.team_id, name=filters.agent),
        end_user__external_id=filters.user,
        project__slug=filters.project,
        conversation_id=filters.conversation,
        subject__startswith=filters.subject,
        category=filters.category,
        form__in=filters.form,
        is_pinned=filters.is_pinned,
        importance__gte=filters.min_importance,
        importance__lte=filters.max_importance,
        created_at__gte=filters.created_after,
        created_at__lt=filters.created_before,
        content__icontains=filters.text,
    )
    rows = rows.filter(**conditions)
    if filters.artifact is not None:
        rows = rows.filter(names_artifact_q(team_id=viewer.team_id, wanted=[filters.artifact]))
    if filters.tag:
        # One join, which has an index; the others are compared in the rows it finds.
        rows = rows.filter(tag_rows__name=filters.tag[0], tag_rows__team_id=viewer.team_id)
        rows = rows.filter(tags__contains=list(filters.tag))
    return rows


def memory_for(*, viewer: Viewer, memory_id: UUID) -> Memory:
    """Returns one memory in any status; NotFoundError if the viewer may not see it."""
    row: Memory | None = Memory.objects.visible_to(viewer).with_names().filter(pk=memory_id).first()
    if row is None:
        raise missing_memory(viewer=viewer, memory_id=memory_id)
    return row


def missing_memory(*, viewer: Viewer, memory_id: UUID) -> NotFoundError:
    """Returns why a viewer is not shown a memory: it was purged, or it is unknown to them."""
    if Memory.objects.purged_from(viewer).filter(pk=memory_id).exists():
        return PurgedError("This memory was purged; only the past still shows it.")
    return NotFoundError("There is no such memory.")


def related_to(*, viewer: Viewer, memory: Memory) -> list[Memory]:
    """Returns visible live memories one edge away, strongest first, with type and strength."""
    edges = MemoryRelation.objects.filter(
        Q(from_memory=memory) | Q(to_memory=memory), team_id=memory.team_id
    ).order_by("-strength", "id")
    strongest: dict[UUID, MemoryRelation] = {}
    for edge in edges:
        other = edge.to_memory_id if edge.from_memory_id == memory.pk else edge.from_memory_id
        strongest.setdefault(other, edge)
    rows = Memory.objects.visible_to(viewer).live().filter(pk__in=strongest).with_names()
    by_id = {row.pk: row for row in rows}
    found: list[Memory] = []
    for key, edge in strongest.items():
        row = by_id.get(key)
        if row is not None and len(found) < _MOST_RELATED:
            row.relation_type = edge.relation_type  # type: ignore[attr-defined]
            row.strength = edge.strength  # type: ignore[attr-defined]
            found.append(row)
    return found


def merged_into(*, viewer: Viewer, memory: Memory) -> list[UUID]:
    """Returns the visible memories that were merged into this one, in the order of storing."""
    edges = MemoryRelation.objects.filter(
        team_id=memory.team_id, from_memory=memory, relation_type="merged_from"
    )
    rows = Memory.objects.visible_to(viewer).filter(pk__in=edges.values("to_memory_id"))
    return list(rows.order_by("id").values_list("id", flat=True))


def outdated_summaries(*, team_id: UUID, ids: Collection[UUID]) -> set[UUID]:
    """Returns the summaries of which a memory was deleted, corrected or superseded since.

    Also episodes of messages of which a memory was deleted, and insights that rest on a deleted
    memory. A person's text in a summary's place is never outdated. Call it in the team's scope.
    """
    if not ids:
        return set()
    own: tuple[UUID, list[UUID]] = (team_id, list(ids))
    with connection.cursor() as cursor:
        cursor.execute(_OUTDATED, [*own, list(LIVE), *own, *own])
        return {row[0] for row in cursor.fetchall()}


_M = TypeVar("_M", bound=models.Model)


def built(model: type[_M], values: dict[str, Any]) -> _M:  # Any: a column's value of any type
    """Returns a stored row as `Model.from_db` makes it, but faster: it sets all fields at once.

    `values` are by the attributes' names; other fields are read on access.
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
    """Returns the visible memories of those ids, with usage and the names of their owners.

    Other fields of an owner are read on access.
    """
    if not ids:
        return {}
    statement = _statement(replace(pattern_of(viewer), allowed_categories=()))
    given = {
        **viewer_parameters(viewer),
        "categories": ["", *viewer.allowed_categories] if viewer.allowed_categories else [],
        "ids": uuids(ids),
    }
    memories = (_memory(row) for row in fetch_planned(statement, given))
    return {memory.pk: memory for memory in memories}


def _memory(row: Sequence[Any]) -> Memory:  # Any: a column's value
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
def _statement(pattern: Viewer) -> str:
    columns = [f"memory_searchentry.{field.column}" for field in Memory._meta.concrete_fields]
    columns += [f"usage.{field.column}" for field in _OF_USAGE]
    visible = viewer_sql(visible_to_q, pattern=pattern)
    return _SQL["by_id"].format(columns=", ".join(columns), visible=visible)


_LONGEST = 100
_CHAIN = """
WITH RECURSIVE later AS (
    SELECT id, superseded_by_id, 0 AS step FROM memory_memory
    WHERE team_id = %(team)s AND id = %(memory)s
    UNION ALL
    SELECT m.id, m.superseded_by_id, l.step + 1
    FROM later l JOIN memory_memory m ON m.team_id = %(team)s AND m.id = l.superseded_by_id
    WHERE l.step < %(longest)s
), earlier AS (
    (SELECT id, 0 AS step FROM later ORDER BY later.step DESC LIMIT 1)
    UNION ALL
    SELECT m.id, e.step + 1
    FROM earlier e JOIN memory_memory m ON m.team_id = %(team)s AND m.superseded_by_id = e.id
    WHERE e.step < %(longest)s
), chain AS (
    SELECT id, min(step) AS step FROM earlier GROUP BY id
)
SELECT id, number FROM (
    SELECT id, row_number() OVER (ORDER BY step DESC, id) AS number, count(*) OVER () AS total
    FROM chain
) AS numbered
WHERE number > total - %(most)s OR id = %(memory)s
"""


@dataclass(frozen=True, slots=True)
class Version:
    """A memory at its place in the chain, counted from 1, the oldest."""

    memory: Memory
    number: int


def versions_of(memory: Memory, *, most: int = 20) -> list[Version]:
    """Returns the last `most` versions of the chain, oldest first, and the memory if it is older.

    The number is the place: `Memory.version` counts corrections alone. Two queries.
    """
    given: dict[str, Any] = {  # Any: a parameter of any type
        "team": memory.team_id,
        "memory": memory.pk,
        "longest": _LONGEST,
        "most": most,
    }
    with connection.cursor() as cursor:
        cursor.execute(_CHAIN, given)
        numbers: dict[UUID, int] = dict(cursor.fetchall())
    if set(numbers) <= {memory.pk}:
        return [Version(memory, numbers.get(memory.pk, 1))]
    rows = Memory.objects.filter(team_id=memory.team_id, pk__in=numbers).select_related(
        "agent", "end_user", "project"
    )
    found = [Version(row, numbers[row.pk]) for row in rows]
    return sorted(found, key=lambda version: version.number)


def current_version(memory: Memory) -> Memory:
    """Returns the end of the memory's chain, or the memory itself."""
    if memory.superseded_by_id is None:
        return memory
    return versions_of(memory, most=1)[-1].memory


@dataclass(frozen=True, slots=True)
class Stood:
    """A memory and its standing."""

    memory: Memory
    standing: Standing


def standings_of(*, memories: Sequence[Memory], now: datetime) -> list[Stood]:
    """Returns the standing of each of the memories of one team; call it in the team's scope."""
    if not memories:
        return []
    usages = {
        row.memory_id: row
        for row in MemoryUsage.objects.filter(
            team_id=memories[0].team_id, memory_id__in=[each.pk for each in memories]
        )
    }
    return [Stood(each, _standing(each, usages.get(each.pk), now)) for each in memories]


def _standing(memory: Memory, usage: MemoryUsage | None, now: datetime) -> Standing:
    return Standing(
        memory_type=memory.memory_type,
        status=memory.status,
        tier=memory.tier,
        importance=memory.importance,
        is_pinned=memory.is_pinned,
        created_at=memory.created_at,
        valid_to=memory.valid_to,
        last_accessed_at=usage.last_accessed_at if usage else None,
        accesses=usage.retrieved + usage.cited + usage.succeeded if usage else 0,
        recent=recent_accesses(usage.daily, now=now) if usage else 0,
    )


_STORED = """
SELECT memory_id, summary, compressed, index_term, told_at_most FROM memory_memorylevels
WHERE (team_id = %(team)s) IS TRUE AND memory_id = ANY (%(ids)s::uuid[]) AND writer <> ''
    AND (told_at_most <> 'content' OR NOT %(shortened)s)
"""


def stored_levels(
    *, team_id: UUID, ids: Iterable[UUID], is_shortened: bool = False
) -> dict[UUID, Levels]:
    """Returns the written levels of the memories, which the viewer must see; call it in scope.

    With `is_shortened` only of those that prompts no longer tell whole.
    """
    wanted = list(ids)
    if not wanted:
        return {}
    given = {"team": team_id, "ids": wanted, "shortened": is_shortened}
    rows = fetch_planned(_STORED, given)
    return {
        pk: Levels(summary, compressed, index_term, Level(told))
        for pk, summary, compressed, index_term, told in rows
    }


def levels_of_memory(memory: Memory) -> Levels:
    """Returns the memory's stored levels, or what the rules make of its text."""
    stored = stored_levels(team_id=memory.team_id, ids=[memory.pk]).get(memory.pk)
    payload = memory.payload if memory.form else {}
    return stored or levels_of(memory.content, form=memory.form, payload=payload)
