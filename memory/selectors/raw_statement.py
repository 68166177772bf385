"""The text of the statement that searches the messages themselves."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from uuid import UUID

from memory.domain.retrieval.surroundings import REACH
from memory.domain.viewer import Viewer
from memory.models import MessageEntry
from memory.models.querysets import heard_by_q
from memory.selectors.conditions import as_sql, stand_ins

# As many as of memories (signal_statement.py): measured on the turns of conversations.
_LIMITS = {
    "NEAR_LIMIT": 100,
    "LEXICAL_LIMIT": 100,
    "CORE_LIMIT": 30,
    "NEIGHBOURS_LIMIT": 20,
    "REACH": REACH,
}
# Aliases are the message entries' own name, so that the compiled condition fits each of them.
_STATEMENT = """
WITH found AS MATERIALIZED (
    SELECT memory_messageentry.term, memory_messageentry.message_id
    FROM palimpsest_message_matches(
        %(team)s::uuid, %(owners)s::text[], %(terms)s::text[], %(most)s::int
    ) AS memory_messageentry
    WHERE {visible}
), counts AS MATERIALIZED (
    SELECT term, count(*) AS seen FROM found GROUP BY term
), rarities AS MATERIALIZED (
    SELECT term, seen, ln(1 + greatest(%(total)s::float8 - seen + 0.5, 0.5) / (seen + 0.5)) AS idf
    FROM counts
    WHERE seen < %(most)s::int OR NOT EXISTS (SELECT FROM counts WHERE seen < %(most)s::int)
), lexical AS MATERIALIZED (
    SELECT f.message_id, sum(r.idf) AS weight, array_agg(f.term - 1) AS terms
    FROM found f JOIN rarities r USING (term) GROUP BY f.message_id
), near AS MATERIALIZED (
    {near}
), worded AS MATERIALIZED (
    SELECT message_id, weight / nullif((SELECT sum(idf) FROM rarities), 0) AS share FROM lexical
    ORDER BY weight DESC, message_id LIMIT {LEXICAL_LIMIT}
), hits AS MATERIALIZED (
    SELECT message_id, coalesce(w.share, 0) + coalesce(n.cosine, 0) AS promise
    FROM near n FULL JOIN worded w USING (message_id)
), core AS MATERIALIZED (
    SELECT message_id FROM hits ORDER BY promise DESC, message_id LIMIT {CORE_LIMIT}
), around AS (
    SELECT n.message_id
    FROM core c
    JOIN memory_messageentry e ON e.team_id = %(team)s AND e.message_id = c.message_id
    CROSS JOIN LATERAL (
        SELECT memory_messageentry.message_id FROM memory_messageentry
        WHERE memory_messageentry.team_id = %(team)s
            AND memory_messageentry.conversation_id = e.conversation_id
            AND memory_messageentry.position BETWEEN e.position - {REACH} AND e.position + {REACH}
        LIMIT {NEIGHBOURS_LIMIT}
    ) n
), chosen AS MATERIALIZED (
    SELECT message_id FROM hits UNION SELECT message_id FROM around
)
SELECT
    (SELECT array_agg(term) FROM rarities),
    (SELECT array_agg(seen) FROM rarities),
    (SELECT array_agg(term) FROM counts),
    (SELECT array_agg(number) FROM unnest(%(terms)s::text[]) WITH ORDINALITY AS t (term, number)
        WHERE length(to_tsvector('english', term)) = 0),
    memory_messageentry.message_id, memory_messageentry.conversation_id,
    memory_messageentry.position, memory_messageentry.role, memory_messageentry.said_at,
    extract(epoch FROM memory_messageentry.said_at)::float8,
    memory_messageentry.people, coalesce(l.terms, '{{}}'),
    -((CASE %(model)s::text
        WHEN memory_messageentry.embedding_model THEN memory_messageentry.embedding
        WHEN memory_messageentry.next_model THEN memory_messageentry.next_embedding
    END) <#> %(vector)s::halfvec)
FROM chosen
JOIN memory_messageentry ON memory_messageentry.team_id = %(team)s
    AND memory_messageentry.message_id = chosen.message_id
LEFT JOIN lexical l ON l.message_id = chosen.message_id
WHERE {visible} AND NOT memory_messageentry.is_waiting AND NOT memory_messageentry.is_forgotten
    AND memory_messageentry.lexemes <> ''::tsvector
"""
_NEAR = """
    SELECT message_id, -((CASE embedding_model WHEN %(model)s THEN embedding ELSE next_embedding
        END) <#> %(vector)s::halfvec) AS cosine
    FROM memory_messageentry
    WHERE memory_messageentry.team_id = %(team)s AND {visible} AND NOT is_forgotten
        AND embedding IS NOT NULL AND (embedding_model = %(model)s OR next_model = %(model)s)
    ORDER BY 2 DESC LIMIT {NEAR_LIMIT}
"""
_NOWHERE = "SELECT NULL::uuid AS message_id, NULL::float8 AS cosine WHERE FALSE"
_COUNT = """
SELECT count(*) FROM (
    SELECT FROM memory_messageentry WHERE team_id = %(team)s AND {visible} LIMIT %(counted)s
) AS counted
"""


@dataclass(frozen=True, slots=True)
class RawShape:
    """What the text of the statement depends on: whom the viewer is narrowed to."""

    of_agent: bool
    of_user: bool
    of_project: bool

    @property
    def visible(self) -> str:
        """The rule of visibility as SQL, with the parameters agent, end_user and project."""
        return _visible(self.of_agent, self.of_user, self.of_project)

    def count(self) -> str:
        """The statement that counts the viewer's messages, no further than `counted`."""
        return _COUNT.format(visible=self.visible)

    def statement(self, *, by_vector: bool) -> str:
        """The statement; without `by_vector` words alone propose messages."""
        return _statement(self.visible, by_vector)


@lru_cache
def _statement(visible: str, by_vector: bool) -> str:
    near = _NEAR.format(visible=visible, **_LIMITS) if by_vector else _NOWHERE
    return _STATEMENT.format(visible=visible, near=near, **_LIMITS)


@lru_cache
def _visible(of_agent: bool, of_user: bool, of_project: bool) -> str:
    stands = stand_ins("team", "agent", "end_user", "project")

    def stand(name: str, wanted: bool) -> UUID | None:
        return stands[name] if wanted else None

    viewer = Viewer(
        team_id=stands["team"],
        actor="",
        agent_id=stand("agent", of_agent),
        end_user_id=stand("end_user", of_user),
        project_id=stand("project", of_project),
    )
    return as_sql(heard_by_q(viewer), parameters=stands, model=MessageEntry)
