"""Memories around a memory."""

from __future__ import annotations

from uuid import UUID

from django.db.models import Q

from memory.domain.viewer import Viewer
from memory.models import Memory, MemoryRelation

RELATED_LIMIT = 50


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
