"""What a new memory must be compared with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import F, FloatField, Q, QuerySet
from django.db.models.expressions import ExpressionWrapper, Value
from pgvector.django import CosineDistance

from memory.domain.types import MemoryType
from memory.domain.viewer import Viewer
from memory.models import Memory


@dataclass(frozen=True, slots=True)
class Audience:
    """Whom a memory is about and who may see it: only memories of one audience are compared."""

    team_id: UUID
    memory_type: str
    agent_id: UUID | None
    end_user_id: UUID | None
    project_id: UUID | None


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A live memory near a new one, with its cosine similarity (-1 to 1)."""

    memory: Memory
    similarity: float


def comparable(audience: Audience) -> QuerySet[Memory, Memory]:
    """Live memories that a memory for `audience` could repeat or contradict.

    They are about the same end user and project, and seen by the same agent: what one agent keeps
    to itself is never compared with another agent's.
    """
    viewer = Viewer(team_id=audience.team_id, actor="", agent_id=audience.agent_id)
    rows = Memory.objects.visible_to(viewer).live()
    if audience.agent_id is None:
        private = (MemoryType.AGENT_PRIVATE.value, MemoryType.IDENTITY.value)
        rows = rows.exclude(memory_type__in=private)
    kept_apart = Q(memory_type=MemoryType.IDENTITY.value)
    if audience.memory_type == MemoryType.IDENTITY:
        rows = rows.filter(kept_apart)
    else:
        rows = rows.exclude(kept_apart)
    return rows.filter(end_user_id=audience.end_user_id, project_id=audience.project_id)


def neighbours_of(
    *,
    audience: Audience,
    vector: Any,  # Any: a numpy row or a list, as pgvector takes both
    embedding_model: str,
    subject: str,
    limit: int,
) -> list[Neighbour]:
    """The `limit` nearest comparable memories, and those of the same subject, nearest first."""
    near = (
        comparable(audience)
        .filter(search_entry__embedding_model=embedding_model)
        .annotate(
            similarity=ExpressionWrapper(
                Value(1.0) - CosineDistance("search_entry__embedding", vector),
                output_field=FloatField(),
            )
        )
        .order_by(F("similarity").desc(), "id")
    )
    found = {row.pk: row for row in near[:limit]}
    if subject:
        for row in near.filter(subject=subject)[:limit]:
            found.setdefault(row.pk, row)
    return sorted(
        (Neighbour(row, _similarity(row)) for row in found.values()),
        key=lambda neighbour: (-neighbour.similarity, neighbour.memory.pk),
    )


def _similarity(row: Memory) -> float:
    value: float = row.similarity  # type: ignore[attr-defined]
    # The distance to a zero vector is NaN: a text without known words is near nothing.
    return value if value == value else 0.0
