"""How much memories are used, by the counters that reads and answers leave."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from memory.models import MemoryUsage


@dataclass(frozen=True, slots=True)
class UsageCounts:
    """How often a memory was retrieved in the last days, and ever cited or ignored.

    `last_accessed_at` is its last retrieval, None for none.
    """

    retrieved_lately: int = 0
    last_accessed_at: datetime | None = None
    cited: int = 0
    ignored: int = 0


def usage_counts(
    *, team_id: UUID, memory_ids: Collection[UUID], days: int, now: datetime
) -> dict[UUID, UsageCounts]:
    """The counts of each of the memories; call it in the team's scope.

    `days` are whole days in UTC that end with today, at most `KEPT_DAYS` of
    `memory.services.read.usage`. What waits in Redis, for some seconds, is not counted yet.
    """
    first = (now.astimezone(UTC) - timedelta(days=days - 1)).date().isoformat()
    rows = MemoryUsage.objects.filter(team_id=team_id, memory_id__in=memory_ids)
    known = {
        row.memory_id: UsageCounts(
            sum(int(count) for day, count in row.daily.items() if day >= first),
            row.last_accessed_at,
            row.cited,
            row.ignored,
        )
        for row in rows
    }
    return {memory_id: known.get(memory_id, UsageCounts()) for memory_id in memory_ids}
