"""The five signals of seed 000 for everything a viewer may see, in one statement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection
from pgvector import HalfVector

from memory.domain.types import MemoryType
from memory.models import Memory
from memory.models.querysets import MemoryQuerySet

# How many memories each signal proposes (seed 000, step 3).
SEMANTIC_LIMIT = 50
LEXICAL_LIMIT = 50
RECENCY_LIMIT = 30
IMPORTANCE_LIMIT = 30
CONTINUITY_LIMIT = 20
RELATION_LIMIT = 20

# Saturation of BM25 (Robertson and Zaragoza 2009) for one-sentence documents, where a word occurs
# once: the frequency part is constant and what is left is the inverse document frequency.
_STATEMENT = f"""
WITH visible AS MATERIALIZED (
    {{visible}}
), asked AS MATERIALIZED (
    SELECT word, to_tsquery('english', quote_literal(word)) AS query
    FROM unnest(%(words)s::text[]) AS word
    WHERE numnode(to_tsquery('english', quote_literal(word))) > 0
), entries AS MATERIALIZED (
    SELECT v.id, e.lexemes,
        CASE %(model)s WHEN e.embedding_model THEN e.embedding
            WHEN e.next_model THEN e.next_embedding END AS embedding
    FROM visible v JOIN memory_searchentry e ON e.team_id = %(team)s AND e.memory_id = v.id
), matches AS MATERIALIZED (
    SELECT e.id, a.word FROM entries e JOIN asked a ON e.lexemes @@ a.query
), size AS (
    SELECT greatest(count(*), 1)::float8 AS total FROM visible
), rarity AS (
    SELECT a.word, ln(1 + (size.total - count(m.id) + 0.5) / (count(m.id) + 0.5)) AS idf
    FROM asked a CROSS JOIN size LEFT JOIN matches m ON m.word = a.word
    GROUP BY a.word, size.total
), lexical AS (
    SELECT m.id, sum(r.idf) / nullif((SELECT sum(idf) FROM rarity), 0) AS score
    FROM matches m JOIN rarity r ON r.word = m.word GROUP BY m.id
), near AS (
    SELECT id, 1 - (embedding <=> %(vector)s::halfvec) AS score
    FROM entries
    WHERE %(has_vector)s AND embedding IS NOT NULL
    ORDER BY embedding <=> %(vector)s::halfvec, id LIMIT {SEMANTIC_LIMIT}
), worded AS (
    SELECT id FROM lexical ORDER BY score DESC, id LIMIT {LEXICAL_LIMIT}
), recent AS (
    SELECT id FROM visible ORDER BY accessed_at DESC, id LIMIT {RECENCY_LIMIT}
), important AS (
    SELECT id FROM visible WHERE is_pinned OR memory_type = '{MemoryType.IDENTITY.value}'
    UNION
    (SELECT id FROM visible WHERE importance >= 7
     ORDER BY importance DESC, id DESC LIMIT {IMPORTANCE_LIMIT})
), continued AS (
    SELECT id FROM visible WHERE conversation_id = %(conversation)s
    ORDER BY id DESC LIMIT {CONTINUITY_LIMIT}
), hits AS (
    SELECT id FROM near UNION SELECT id FROM worded
), edges AS (
    SELECT r.to_memory_id AS id, r.strength FROM hits h
    JOIN memory_memoryrelation r ON r.team_id = %(team)s AND r.from_memory_id = h.id
    UNION ALL
    SELECT r.from_memory_id, r.strength FROM hits h
    JOIN memory_memoryrelation r ON r.team_id = %(team)s AND r.to_memory_id = h.id
), related AS (
    SELECT e.id, max(e.strength) AS score FROM edges e JOIN visible v ON v.id = e.id
    GROUP BY e.id ORDER BY score DESC, e.id LIMIT {RELATION_LIMIT}
), candidates AS (
    SELECT id FROM hits UNION SELECT id FROM recent UNION SELECT id FROM important
    UNION SELECT id FROM continued UNION SELECT id FROM related
)
SELECT
    c.id,
    v.memory_type,
    v.status,
    v.importance,
    v.is_pinned,
    CASE WHEN %(has_vector)s THEN 1 - (e.embedding <=> %(vector)s::halfvec) END,
    l.score,
    v.accessed_at,
    v.conversation_id IS NOT NULL AND v.conversation_id = %(conversation)s,
    r.score
FROM candidates c
JOIN visible v ON v.id = c.id
JOIN entries e ON e.id = c.id
LEFT JOIN lexical l ON l.id = c.id
LEFT JOIN related r ON r.id = c.id
"""

_VISIBLE = """
    SELECT m.id, m.memory_type, m.status, m.importance, m.is_pinned, m.conversation_id,
        coalesce(u.last_accessed_at, m.created_at) AS accessed_at
    FROM ({rows}) AS m
    LEFT JOIN memory_memoryusage u ON u.team_id = %(team)s AND u.memory_id = m.id
"""


_COLUMNS = (
    "id",
    "memory_type",
    "status",
    "importance",
    "is_pinned",
    "conversation_id",
    "created_at",
)


@dataclass(frozen=True, slots=True)
class SignalRow:
    """What the database found of one candidate; cosine and lexical are 0-1 or None."""

    memory_id: UUID
    memory_type: str
    status: str
    importance: int
    is_pinned: bool
    cosine: float | None
    lexical: float | None
    accessed_at: datetime
    same_conversation: bool
    relation: float | None


def signals_for(
    *,
    rows: MemoryQuerySet,
    team_id: UUID,
    vector: Any,  # Any: a numpy row, as pgvector takes it
    embedding_model: str,
    words: Sequence[str],
    conversation_id: UUID | None,
) -> list[SignalRow]:
    """The candidates among `rows` (already narrowed to the viewer) with all their signals.

    Each signal proposes its best; every signal is then computed for every proposed memory, so the
    outcome does not depend on which signal found it.
    """
    inner, inner_params = rows.order_by().values(*_COLUMNS).query.sql_with_params()
    named = {f"row_{index}": value for index, value in enumerate(inner_params)}
    # The ORM's positional parameters become named ones, so that the statement can repeat its own.
    placeholders = inner.replace("%s", "%({})s").format(*named) if named else inner
    statement = _STATEMENT.format(visible=_VISIBLE.format(rows=placeholders))
    has_vector = bool(vector.any())
    with connection.cursor() as cursor:
        # Right after an import the tables have no statistics yet, and nested loops over the
        # visible rows would cost their square; hashing them costs next to nothing.
        cursor.execute("SET LOCAL enable_nestloop = off")
        cursor.execute(
            statement,
            {
                **named,
                "team": team_id,
                "vector": HalfVector(vector).to_text(),
                "has_vector": has_vector,
                "model": embedding_model,
                "words": list(words),
                "conversation": conversation_id,
            },
        )
        found = [SignalRow(*row) for row in cursor.fetchall()]
        cursor.execute("SET LOCAL enable_nestloop = on")
        return found


def memories_by_id(*, team_id: UUID, ids: Sequence[UUID]) -> dict[UUID, Memory]:
    """The memories of those ids with the names an answer needs."""
    rows = Memory.objects.filter(team_id=team_id, id__in=ids).with_names()
    return {row.pk: row for row in rows}
