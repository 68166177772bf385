"""Lists of memories and single ones, as a viewer may see them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import connection
from django.db.models import Q

from memory.domain.audience import Viewer
from memory.domain.forms import ArtifactQuery
from memory.models import Memory, MemoryRelation
from memory.models.memory import LIVE
from memory.models.querysets import MemoryQuerySet
from memory.selectors.filters import names_artifact_q
from teams.errors import NotFoundError
from teams.services.people import slug_called

ALL = "all"
RELATED_LIMIT = 50
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
        AND r.relation_type = 'derived_from' AND m.status = 'soft_deleted'
)
"""


class PurgedError(NotFoundError):
    """A memory that the caller could see was purged: nothing shows it as it is now."""


@dataclass(frozen=True, slots=True)
class MemoryFilters:
    """What a list is narrowed to; all that are given must hold.

    `text` is a part of the content, in capitals or not.
    """

    memory_types: Sequence[str] = ()
    audience: Sequence[str] = ()
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
    """The memories the viewer may see that match; active and disputed ones unless told."""
    rows = Memory.objects.visible_to(viewer).with_names()
    if not filters.status:
        rows = rows.live()
    elif ALL not in filters.status:
        rows = rows.filter(status__in=filters.status)
    conditions = {
        "memory_type__in": filters.memory_types or None,
        "audience__in": filters.audience or None,
        "tier__in": filters.tier or None,
        "agent__slug": filters.agent and slug_called(team_id=viewer.team_id, name=filters.agent),
        "end_user__external_id": filters.user,
        "project__slug": filters.project,
        "conversation_id": filters.conversation,
        "subject__startswith": filters.subject,
        "category": filters.category,
        "form__in": filters.form or None,
        "is_pinned": filters.is_pinned,
        "importance__gte": filters.min_importance,
        "importance__lte": filters.max_importance,
        "created_at__gte": filters.created_after,
        "created_at__lt": filters.created_before,
        "content__icontains": filters.text,
    }
    rows = rows.filter(**{name: value for name, value in conditions.items() if value is not None})
    if filters.artifact is not None:
        rows = rows.filter(names_artifact_q(team_id=viewer.team_id, wanted=[filters.artifact]))
    if filters.tag:
        # One join, which has an index; the others are compared in the rows it finds.
        rows = rows.filter(tag_rows__name=filters.tag[0], tag_rows__team_id=viewer.team_id)
        rows = rows.filter(tags__contains=list(filters.tag))
    return rows


def memory_for(*, viewer: Viewer, memory_id: UUID) -> Memory:
    """One memory in any status; NotFoundError when the viewer may not see it."""
    row: Memory | None = Memory.objects.visible_to(viewer).with_names().filter(pk=memory_id).first()
    if row is None:
        raise missing_memory(viewer=viewer, memory_id=memory_id)
    return row


def missing_memory(*, viewer: Viewer, memory_id: UUID) -> NotFoundError:
    """Why a viewer is not shown a memory: it was purged, or is none that they may know of."""
    if Memory.objects.purged_from(viewer).filter(pk=memory_id).exists():
        return PurgedError("This memory was purged; only the past still shows it.")
    return NotFoundError("There is no such memory.")


def related_to(*, viewer: Viewer, memory: Memory, limit: int = RELATED_LIMIT) -> list[Memory]:
    """Visible live memories one edge away, strongest first, with their edge's type and strength."""
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
        if row is not None and len(found) < limit:
            row.relation_type = edge.relation_type  # type: ignore[attr-defined]
            row.strength = edge.strength  # type: ignore[attr-defined]
            found.append(row)
    return found


def merged_into(*, viewer: Viewer, memory: Memory) -> list[UUID]:
    """The visible memories that were merged into this one, in the order they were stored."""
    edges = MemoryRelation.objects.filter(
        team_id=memory.team_id, from_memory=memory, relation_type="merged_from"
    )
    rows = Memory.objects.visible_to(viewer).filter(pk__in=edges.values("to_memory_id"))
    return list(rows.order_by("id").values_list("id", flat=True))


def outdated_summaries(*, team_id: UUID, ids: Collection[UUID]) -> set[UUID]:
    """Of these summaries, those of which a memory was deleted, corrected or superseded since.

    Of episodes those that tell messages of which a memory was deleted, of insights those that rest
    on a deleted memory.

    What somebody wrote in a summary's place is never among them. Call it in the team's scope.
    """
    if not ids:
        return set()
    own: tuple[UUID, list[UUID]] = (team_id, list(ids))
    with connection.cursor() as cursor:
        cursor.execute(_OUTDATED, [*own, list(LIVE), *own, *own])
        return {row[0] for row in cursor.fetchall()}
