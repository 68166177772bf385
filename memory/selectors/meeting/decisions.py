"""What people decided before about the very words that somebody writes now."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from memory.models import Memory
from memory.selectors.prepared import fetch_planned
from memory.selectors.showing.built_rows import built

_SAID = (
    "id",
    "team_id",
    "memory_type",
    "agent_id",
    "end_user_id",
    "project_id",
    "category",
    "status",
    "extraction_pass",
)
# No index knows the words of what is retired. So a decision is looked for where it left something:
# by what stands near, back to what that once replaced, and among the objections, which are few.
# That something was replaced is asked behind the look for its row: an index of what was replaced
# would be read whole for it.
_DECISIONS = """
WITH RECURSIVE chain (near, id, depth) AS (
    SELECT near, near, 0 FROM unnest(%(near)s::uuid[]) AS near
    UNION ALL
    SELECT chain.near, m.supersedes_id, chain.depth + 1
    FROM chain
    CROSS JOIN LATERAL (
        SELECT o.supersedes_id FROM memory_memory o
        WHERE (o.team_id = %(team)s) IS TRUE AND o.id = chain.id OFFSET 0
    ) AS m
    WHERE m.supersedes_id IS NOT NULL AND chain.depth < 50
), settled AS (
    SELECT chain.near, chain.depth, c.* FROM chain CROSS JOIN LATERAL (
        SELECT * FROM memory_contradiction o
        WHERE o.team_id = %(team)s AND o.memory_a_id = chain.id AND o.resolved_at IS NOT NULL
        UNION ALL
        SELECT * FROM memory_contradiction o
        WHERE o.team_id = %(team)s AND o.memory_b_id = chain.id AND o.resolved_at IS NOT NULL
    ) AS c
    UNION ALL
    SELECT NULL, 0, o.* FROM memory_contradiction o
    WHERE o.team_id = %(team)s AND o.memory_b_id IS NULL AND o.resolved_at IS NOT NULL
)
SELECT s.near, s.depth, s.resolution, s.resolved_by, s.resolved_at, s.resolution_note,
    s.memory_b_id IS NOT NULL, m.id = s.memory_a_id, m.dedupe_key,
    m.id, m.team_id, m.memory_type, m.agent_id, m.end_user_id, m.project_id, m.category, m.status,
    m.extraction_pass
FROM settled AS s
CROSS JOIN LATERAL (
    SELECT * FROM memory_memory o
    WHERE (o.team_id = %(team)s) IS TRUE AND o.id IN (s.memory_a_id, s.memory_b_id) OFFSET 0
) AS m
WHERE s.resolved_by NOT LIKE 'judge:%%' AND m.dedupe_key = ANY(%(keys)s::bytea[])
ORDER BY s.resolved_at
"""


@dataclass(frozen=True, slots=True)
class Decision:
    """That people settled a contradiction one side of which, `said`, has certain words.

    `near` is the live memory that it was looked for by, `depth` versions after the one that was
    settled about; None for an objection, which is settled about `said` alone. `is_first` says
    that `said` is the contradiction's `memory_a`, `key` is that of its words and readers.
    """

    near: UUID | None
    depth: int
    resolution: str
    by: str
    at: datetime
    note: str
    is_of_two: bool
    is_first: bool
    key: bytes
    said: Memory


def decisions_on(*, team_id: UUID, keys: Iterable[bytes], near: Sequence[UUID]) -> list[Decision]:
    """What people, and no judge, settled about memories that stood under those keys, oldest first.

    Found are objections, and what was settled against one of the live memories `near`, or against
    an earlier version of one.
    """
    rows = fetch_planned(_DECISIONS, {"team": team_id, "keys": list(keys), "near": list(near)})
    found = []
    for near_by, depth, how, by, at, note, is_of_two, is_first, key, *said in rows:
        memory = built(Memory, dict(zip(_SAID, said, strict=True)))
        found.append(
            Decision(near_by, depth, how, by, at, note, is_of_two, is_first, bytes(key), memory)
        )
    return found
