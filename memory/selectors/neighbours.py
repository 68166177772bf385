"""What a new memory must be compared with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import Case, F, FloatField, Q, When
from django.db.models.expressions import ExpressionWrapper, Value
from pgvector.django import CosineDistance, HalfVectorField

from memory.domain.audience import OF_AN_AGENT, OPEN, TEAM_WIDE, Audience
from memory.models import Memory
from memory.models.querysets import MemoryQuerySet


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A live memory near a new one, with its cosine similarity (-1 to 1)."""

    memory: Memory
    similarity: float


def comparable(audience: Audience) -> MemoryQuerySet:
    """Live memories that a memory for `audience` could repeat or contradict.

    They have the same audience: what some may not see is never changed, marked or named by what
    all see, nor the other way round.
    """
    owner: dict[str, Any] = {  # Any: None compares as IS NULL, which the stubs do not know
        "end_user_id": audience.end_user_id,
        "project_id": audience.project_id,
    }
    rows = Memory.objects.live().filter(team_id=audience.team_id, **owner)
    if audience.kind != OPEN:
        owner["agent_id"] = audience.agent_id
        return rows.filter(memory_type=audience.kind, **owner)
    rows = rows.exclude(memory_type__in=OF_AN_AGENT)
    if audience.agent_id is None:
        return rows.filter(Q(agent_id__isnull=True) | Q(memory_type__in=TEAM_WIDE))
    return rows.filter(agent_id=audience.agent_id).exclude(memory_type__in=TEAM_WIDE)


def neighbours_of(
    *,
    audience: Audience,
    vector: Any,  # Any: a numpy row or a list, as pgvector takes both
    embedding_model: str,
    subject: str,
    limit: int,
) -> list[Neighbour]:
    """The `limit` nearest comparable memories, and those of the same subject, nearest first."""
    own = Q(search_entry__embedding_model=embedding_model)
    next_one = Q(search_entry__next_model=embedding_model)
    stored = Case(
        When(own, then="search_entry__embedding"),
        When(next_one, then="search_entry__next_embedding"),
        output_field=HalfVectorField(),
    )
    near = (
        comparable(audience)
        .filter(own | next_one)
        .annotate(
            similarity=ExpressionWrapper(
                Value(1.0) - CosineDistance(stored, vector), output_field=FloatField()
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
