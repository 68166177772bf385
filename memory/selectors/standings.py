"""Standing of memories by their use, which decides their tier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from memory.domain.tiers import (
    Standing,
    recent_accesses,
)
from memory.models import Memory, MemoryUsage


@dataclass(frozen=True, slots=True)
class Stood:
    """A memory and where it stands."""

    memory: Memory
    standing: Standing


def standings_of(*, memories: Sequence[Memory], now: datetime) -> list[Stood]:
    """Where each of the memories of one team stands; call it in the team's scope."""
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
