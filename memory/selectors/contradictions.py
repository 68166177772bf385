"""Contradictions as readers see them."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet

from memory.domain.viewer import Viewer
from memory.models import Contradiction, Memory


def contradictions_visible_to(viewer: Viewer) -> QuerySet[Contradiction, Contradiction]:
    """Contradictions of which the viewer may see both sides."""
    seen = Memory.objects.visible_to(viewer)
    return Contradiction.objects.filter(
        Exists(seen.filter(pk=OuterRef("memory_a_id"))),
        Q(memory_b=None) | Exists(seen.filter(pk=OuterRef("memory_b_id"))),
        team_id=viewer.team_id,
    ).select_related("memory_a", "memory_b")


def open_contradictions_among(*, viewer: Viewer, memory_ids: Sequence[UUID]) -> list[Contradiction]:
    """The unresolved contradictions that touch any of these memories, newest first."""
    touching = Q(memory_a_id__in=memory_ids) | Q(memory_b_id__in=memory_ids)
    rows = contradictions_visible_to(viewer).filter(touching, resolved_at=None)
    return list(rows.order_by("-detected_at")) if memory_ids else []


def recorded_pairs(*, team_id: UUID, ids: Sequence[UUID]) -> set[frozenset[UUID]]:
    """The pairs among those memories ever recorded as a contradiction; call it in scope."""
    rows = Contradiction.objects.filter(
        team_id=team_id, memory_a__in=ids, memory_b__in=ids
    ).values_list("memory_a_id", "memory_b_id")
    return {frozenset(pair) for pair in rows}
