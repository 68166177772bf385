"""Which summaries tell something that holds no longer."""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from django.db import connection

from memory.models.memory import LIVE

# A summary names the memories it was made of; an older one by its compaction alone.
_OUTDATED = """
SELECT s.id FROM memory_memory s
LEFT JOIN memory_compaction c
    ON c.team_id = s.team_id AND c.conversation_id = s.conversation_id
    AND c.summary_memory_id = s.id
WHERE s.team_id = %s AND s.id = ANY (%s::uuid[]) AND s.extractor LIKE 'summary:%%' AND EXISTS (
    SELECT FROM jsonb_array_elements_text(coalesce(
        s.payload->'points', jsonb_path_query_array(c.points, '$[*].memory_ids[*]'), '[]'
    )) AS told (id)
    JOIN memory_memory m ON m.team_id = s.team_id AND m.id = told.id::uuid
    WHERE m.status <> ALL (%s::text[])
)
"""


def outdated_summaries(*, team_id: UUID, ids: Collection[UUID]) -> set[UUID]:
    """Of these summaries, those of which a memory was deleted, corrected or superseded since.

    What somebody wrote in a summary's place is never among them. Call it in the team's scope.
    """
    if not ids:
        return set()
    with connection.cursor() as cursor:
        cursor.execute(_OUTDATED, [team_id, list(ids), list(LIVE)])
        return {row[0] for row in cursor.fetchall()}
