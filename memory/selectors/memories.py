"""Lists of memories and single ones, as a viewer may see them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from memory.domain.viewer import Viewer
from memory.models import Memory
from memory.models.querysets import MemoryQuerySet
from teams.errors import NotFoundError

ALL = "all"


@dataclass(frozen=True, slots=True)
class MemoryFilters:
    """What a list is narrowed to; all that are given must hold."""

    memory_type: Sequence[str] = ()
    status: Sequence[str] = ()
    tier: Sequence[str] = ()
    agent: str | None = None
    user: str | None = None
    project: str | None = None
    conversation: UUID | None = None
    subject: str | None = None
    category: str | None = None
    tag: Sequence[str] = ()
    is_pinned: bool | None = None
    min_importance: int | None = None
    max_importance: int | None = None
    created_after: datetime | None = None
    created_before: datetime | None = None


def filtered_memories(*, viewer: Viewer, filters: MemoryFilters) -> MemoryQuerySet:
    """The memories the viewer may see that match; active and disputed ones unless told."""
    rows = Memory.objects.visible_to(viewer).with_names()
    if not filters.status:
        rows = rows.live()
    elif ALL not in filters.status:
        rows = rows.filter(status__in=filters.status)
    conditions = {
        "memory_type__in": filters.memory_type or None,
        "tier__in": filters.tier or None,
        "agent__slug": filters.agent,
        "end_user__external_id": filters.user,
        "project__slug": filters.project,
        "conversation_id": filters.conversation,
        "subject__startswith": filters.subject,
        "category": filters.category,
        "is_pinned": filters.is_pinned,
        "importance__gte": filters.min_importance,
        "importance__lte": filters.max_importance,
        "created_at__gte": filters.created_after,
        "created_at__lt": filters.created_before,
    }
    rows = rows.filter(**{name: value for name, value in conditions.items() if value is not None})
    for tag in filters.tag:
        rows = rows.filter(tag_rows__name=tag, tag_rows__team_id=viewer.team_id)
    return rows


def memory_for(*, viewer: Viewer, memory_id: UUID) -> Memory:
    """One memory in any status; NotFoundError when the viewer may not see it."""
    row: Memory | None = Memory.objects.visible_to(viewer).with_names().filter(pk=memory_id).first()
    if row is None:
        raise NotFoundError("There is no such memory.")
    return row
