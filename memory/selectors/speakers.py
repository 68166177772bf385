"""Messages with the names of who said them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from teams.prepared import run_prepared, uuids

# Each id is looked up by itself, which OFFSET makes sure of: for a list the planner may read the
# whole team.
_STATEMENT = """
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
    rows = run_prepared(_STATEMENT, [team_id, uuids(ids)])
    return {row[0]: SpokenMessage._make(row) for row in rows}
