"""Which memories were made of which messages."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from teams.prepared import run_prepared, uuids

# What a memory replaced was made of messages too. Each id is looked up by itself, as in `spoken`.
_STATEMENT = """
SELECT DISTINCT m.id, source
FROM unnest($2::uuid[]) AS wanted (id)
CROSS JOIN LATERAL (
    SELECT o.id, o.source_message_ids, o.supersedes_id FROM memory_memory o
    WHERE o.team_id = $1 AND o.id = wanted.id OFFSET 0
) AS m
LEFT JOIN LATERAL (
    SELECT o.source_message_ids FROM memory_memory o
    WHERE o.team_id = $1 AND o.id = m.supersedes_id OFFSET 0
) AS earlier ON TRUE
CROSS JOIN LATERAL unnest(m.source_message_ids || earlier.source_message_ids) AS source
WHERE source = ANY ($3::uuid[])
"""


def sources_among(
    *, team_id: UUID, memory_ids: Sequence[UUID], message_ids: Sequence[UUID]
) -> list[tuple[UUID, UUID]]:
    """Pairs of a memory and one of those messages that it, or what it replaced, was made of.

    Call it in the team's scope.
    """
    if not memory_ids or not message_ids:
        return []
    found = run_prepared(_STATEMENT, [team_id, uuids(memory_ids), uuids(message_ids)])
    return [(memory_id, message_id) for memory_id, message_id in found]
