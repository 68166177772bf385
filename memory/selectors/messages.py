"""Messages with the names of who said them, and which memories were made of them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from teams.prepared import run_prepared, uuids

# Each id is looked up by itself, which OFFSET makes sure of: for a list the planner may read the
# whole team.
_SPOKEN = """
SELECT m.id, m.conversation_id, m.position, m.role, coalesce(
        nullif(m.name, ''),
        CASE m.role WHEN 'user' THEN coalesce(nullif(u.display_name, ''), u.external_id)
            ELSE a.name END),
    m.external_id, m.created_at, m.content
FROM unnest($2::uuid[]) AS wanted (id)
CROSS JOIN LATERAL (
    SELECT * FROM teams_message o WHERE o.team_id = $1 AND o.id = wanted.id OFFSET 0
) AS m
CROSS JOIN LATERAL (
    SELECT * FROM teams_conversation o
    WHERE o.team_id = $1 AND o.id = m.conversation_id OFFSET 0
) AS c
JOIN teams_agent a ON a.team_id = $1 AND a.id = c.agent_id
JOIN teams_enduser u ON u.team_id = $1 AND u.id = c.end_user_id
"""
# What a memory took the place of was made of messages too, and so was what that replaced: earlier
# versions, and what lost to it. Each id is looked up by itself, as above.
_SOURCES = """
WITH RECURSIVE made AS (
    SELECT m.id AS memory_id, m.id AS part, m.source_message_ids, m.content, 1 AS depth
    FROM unnest($2::uuid[]) AS wanted (id)
    CROSS JOIN LATERAL (
        SELECT o.id, o.source_message_ids, o.content FROM memory_memory o
        WHERE o.team_id = $1 AND o.id = wanted.id OFFSET 0
    ) AS m
    UNION ALL
    SELECT made.memory_id, earlier.id, earlier.source_message_ids, earlier.content, made.depth + 1
    FROM made
    CROSS JOIN LATERAL (
        SELECT o.id, o.source_message_ids, o.content FROM memory_memory o
        WHERE o.team_id = $1 AND o.superseded_by_id = made.part OFFSET 0
    ) AS earlier
    WHERE made.depth < $4
)
SELECT DISTINCT memory_id, source, content, depth > 1
FROM made CROSS JOIN LATERAL unnest(source_message_ids) AS source
WHERE source = ANY ($3::uuid[])
"""
_LONGEST_CHAIN = 100


class SpokenMessage(NamedTuple):
    """A message and who said it: its own name, or else its end user's or its agent's."""

    id: UUID
    conversation_id: UUID
    position: int
    role: str
    speaker: str
    external_id: str | None
    said_at: datetime
    content: str


def spoken_messages(*, team_id: UUID, ids: Sequence[UUID]) -> dict[UUID, SpokenMessage]:
    """The team's messages of those ids; call it in the team's scope."""
    if not ids:
        return {}
    rows = run_prepared(_SPOKEN, [team_id, uuids(ids)])
    return {row[0]: SpokenMessage._make(row) for row in rows}


class Source(NamedTuple):
    """A message that a memory, or one that it superseded, was made of, and the text of that one."""

    memory_id: UUID
    message_id: UUID
    text: str
    is_past: bool


def sources_among(
    *, team_id: UUID, memory_ids: Sequence[UUID], message_ids: Sequence[UUID]
) -> list[Source]:
    """Returns the sources of the memories among the messages; call it in scope."""
    if not memory_ids or not message_ids:
        return []
    given = [team_id, uuids(memory_ids), uuids(message_ids), _LONGEST_CHAIN]
    return [Source._make(row) for row in run_prepared(_SOURCES, given)]
