"""Which memories were made of which messages."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from teams.prepared import run_prepared, uuids

# What a memory took the place of was made of messages too, and so was what that replaced: earlier
# versions, and what lost to it. Each id is looked up by itself, as in `spoken`.
_STATEMENT = """
WITH RECURSIVE made AS (
    SELECT m.id AS memory_id, m.id AS part, m.source_message_ids, 1 AS depth
    FROM unnest($2::uuid[]) AS wanted (id)
    CROSS JOIN LATERAL (
        SELECT o.id, o.source_message_ids FROM memory_memory o
        WHERE o.team_id = $1 AND o.id = wanted.id OFFSET 0
    ) AS m
    UNION ALL
    SELECT made.memory_id, earlier.id, earlier.source_message_ids, made.depth + 1
    FROM made
    CROSS JOIN LATERAL (
        SELECT o.id, o.source_message_ids FROM memory_memory o
        WHERE o.team_id = $1 AND o.superseded_by_id = made.part OFFSET 0
    ) AS earlier
    WHERE made.depth < $4
)
SELECT DISTINCT memory_id, source
FROM made CROSS JOIN LATERAL unnest(source_message_ids) AS source
WHERE source = ANY ($3::uuid[])
"""
_LONGEST_CHAIN = 100


def sources_among(
    *, team_id: UUID, memory_ids: Sequence[UUID], message_ids: Sequence[UUID]
) -> list[tuple[UUID, UUID]]:
    """Pairs of a memory and one of those messages that it, or what it superseded, was made of.

    Call it in the team's scope.
    """
    if not memory_ids or not message_ids:
        return []
    given = [team_id, uuids(memory_ids), uuids(message_ids), _LONGEST_CHAIN]
    found = run_prepared(_STATEMENT, given)
    return [(memory_id, message_id) for memory_id, message_id in found]
