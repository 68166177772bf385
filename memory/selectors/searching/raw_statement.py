"""The text of the statement that searches the messages themselves."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from memory.models import MessageEntry
from memory.models.querysets import heard_by_q
from memory.selectors.conditions import viewer_sql
from memory.selectors.searching.search_statement import LIMITS, common_parts

# (In a CASE for the reason that signal_statement.py has it in one.)
_FOUND = """
    SELECT memory_messageentry.term, memory_messageentry.message_id
    FROM palimpsest_message_matches(
        %(team)s::uuid, %(owners)s::text[], %(terms)s::text[], %(most)s::int,
        %(agent)s::uuid, %(project)s::uuid
    ) AS memory_messageentry
    WHERE CASE WHEN {visible} THEN TRUE END
"""
_STATEMENT = """{searched}, chosen AS MATERIALIZED (
    SELECT message_id FROM hits UNION SELECT message_id FROM around
), {held}, proposed AS MATERIALIZED (
    SELECT message_id, held.terms FROM chosen LEFT JOIN held USING (message_id)
)
SELECT{question},
    memory_messageentry.message_id, memory_messageentry.conversation_id,
    memory_messageentry.position, memory_messageentry.role, memory_messageentry.said_at,
    extract(epoch FROM memory_messageentry.said_at)::float8,
    array_to_string(memory_messageentry.people, ' '), coalesce(proposed.terms, 0),{cosine}
FROM proposed
CROSS JOIN LATERAL (
    SELECT * FROM memory_messageentry e
    WHERE e.team_id = %(team)s AND e.message_id = proposed.message_id OFFSET 0
) AS memory_messageentry
WHERE {visible} AND NOT memory_messageentry.is_waiting AND NOT memory_messageentry.is_forgotten
    AND memory_messageentry.lexemes <> ''::tsvector
"""
_NEAR = """
    SELECT * FROM ({compared}) AS compared ORDER BY cosine DESC LIMIT {NEAR_LIMIT}
"""
_COMPARED = """
    SELECT message_id, -((CASE embedding_model WHEN %(model)s THEN embedding ELSE next_embedding
        END) <#> (SELECT vector FROM asked)) AS cosine
    FROM memory_messageentry
    WHERE memory_messageentry.team_id = %(team)s AND {owner} AND {visible} AND NOT is_forgotten
        AND embedding IS NOT NULL AND (embedding_model = %(model)s OR next_model = %(model)s)
"""
# Of an end user's viewer: what is theirs and what is nobody's, each a range of an index.
_OWNERS = ("end_user_id = %(end_user)s", "end_user_id IS NULL")
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
        return viewer_sql(
            heard_by_q,
            of_agent=self.of_agent,
            of_user=self.of_user,
            of_project=self.of_project,
            model=MessageEntry,
        )

    def count(self) -> str:
        """The statement that counts the viewer's messages, no further than `counted`."""
        return _COUNT.format(visible=self.visible)

    def statement(self, *, by_vector: bool) -> str:
        """The statement; without `by_vector` words alone propose messages."""
        owners = _OWNERS if self.of_user else ("TRUE",)
        return _statement(self.visible, owners if by_vector else ())


@lru_cache
def _statement(visible: str, owners: tuple[str, ...]) -> str:
    """The statement; without owners whose vectors to compare, words alone propose."""
    terms = {**LIMITS, "visible": visible}
    compared = " UNION ALL ".join(_COMPARED.format(**terms, owner=owner) for owner in owners)
    common = common_parts(
        entry="memory_messageentry",
        key="message_id",
        found=_FOUND.format(**terms),
        near=_NEAR.format(**terms, compared=compared) if owners else _NOWHERE,
        condition=visible,
    )
    return _STATEMENT.format(**terms, **common)
