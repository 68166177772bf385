"""What the statements that find memories have in common, whoever proposes candidates."""

from __future__ import annotations

SIGNAL_LIMITS = {
    "RECENCY_LIMIT": 30,
    "IMPORTANCE_LIMIT": 30,
    "MANDATORY_LIMIT": 1000,
    "CONTINUITY_LIMIT": 20,
    "RELATION_LIMIT": 20,
}
# From this importance on a memory is proposed for it.
IMPORTANT_FROM = 7

# Aliases are the search entries' own name, so that the compiled condition fits each of them. What
# is read of what was found is looked up one by one, which OFFSET makes sure of: with joins the
# planner may read the whole team.
ACCESSED = """
    SELECT memory_searchentry.memory_id
    FROM (
        SELECT memory_id FROM memory_memoryusage
        WHERE team_id = %(team)s AND last_accessed_at IS NOT NULL
        ORDER BY last_accessed_at DESC LIMIT {RECENCY_LIMIT}
    ) u
    CROSS JOIN LATERAL (
        SELECT * FROM memory_searchentry e
        WHERE e.team_id = %(team)s AND e.memory_id = u.memory_id OFFSET 0
    ) AS memory_searchentry
    WHERE {condition}
"""
CONTINUED = """
    SELECT memory_searchentry.memory_id FROM memory_searchentry
    WHERE memory_searchentry.team_id = %(team)s
        AND memory_searchentry.conversation_id = %(conversation)s::uuid AND {condition}
    ORDER BY memory_searchentry.position DESC LIMIT {CONTINUITY_LIMIT}
"""
# Of the best hits in `core`.
RELATED = """edges AS (
    SELECT r.to_memory_id AS memory_id, r.strength
    FROM core c
    CROSS JOIN LATERAL (
        SELECT * FROM memory_memoryrelation o
        WHERE o.team_id = %(team)s AND o.from_memory_id = c.memory_id OFFSET 0
    ) AS r
    UNION ALL
    SELECT r.from_memory_id, r.strength
    FROM core c
    CROSS JOIN LATERAL (
        SELECT * FROM memory_memoryrelation o
        WHERE o.team_id = %(team)s AND o.to_memory_id = c.memory_id OFFSET 0
    ) AS r
), related AS MATERIALIZED (
    SELECT memory_id, max(strength) AS strength FROM edges
    GROUP BY memory_id ORDER BY 2 DESC, 1 LIMIT {RELATION_LIMIT}
)"""
# What is read of a candidate: the columns of a `SignalRow`, of the entry, the memory and its usage.
READ_COLUMNS = """
    m.id, m.memory_type, m.status, m.importance, m.is_pinned,
    extract(epoch FROM coalesce(u.last_accessed_at, m.created_at))::float8,
    memory_searchentry.conversation_id, memory_searchentry.position,
    extract(epoch FROM memory_searchentry.said_at)::float8,
    extract(epoch FROM memory_searchentry.held_from)::float8,
    extract(epoch FROM memory_searchentry.held_until)::float8,
    array_to_string(memory_searchentry.people, ' '), {terms}, {cosine},
    proposed.strength,
    m.end_user_id, m.project_id, m.content, m.subject, m.category, m.scope,
    nullif(m.tags, '{{}}'), nullif(m.contradicts, '{{}}'),
    m.confidence, coalesce(u.succeeded, 0), coalesce(u.failed, 0),
    m.row_xmin, m.row_ctid, u.row_xmin, u.row_ctid"""
MEMORY_OF = """CROSS JOIN LATERAL (
    SELECT *, o.xmin AS row_xmin, o.ctid AS row_ctid FROM memory_memory o
    WHERE o.team_id = %(team)s AND o.id = {of}.memory_id OFFSET 0
) AS m"""
USAGE_OF = """LEFT JOIN LATERAL (
    SELECT *, o.xmin AS row_xmin, o.ctid AS row_ctid FROM memory_memoryusage o
    WHERE o.team_id = %(team)s AND o.memory_id = {of}.memory_id OFFSET 0
) AS u ON TRUE"""
_PROPOSED = """FROM proposed
CROSS JOIN LATERAL (
    SELECT * FROM memory_searchentry e
    WHERE e.team_id = %(team)s AND e.memory_id = proposed.memory_id OFFSET 0
) AS memory_searchentry"""
_OF_VIEWER = """WHERE {condition}
    AND (cardinality(%(categories)s::text[]) = 0 OR m.category = ANY (%(categories)s::text[]))
"""
READ_PROPOSED = "\n".join(
    (
        READ_COLUMNS,
        _PROPOSED,
        MEMORY_OF.format(of="proposed"),
        USAGE_OF.format(of="proposed"),
        _OF_VIEWER,
    )
)
# Each term's query is made once, and not for each entry that it is compared with.
TERM_QUERIES = """SELECT number::int AS term, (
        SELECT string_agg('''' || replace(lexeme, '''', '''''') || '''', ' & ')::tsquery
        FROM unnest(tsvector_to_array(to_tsvector('english', t.term))) AS lexeme
    ) AS query
    FROM unnest(%(terms)s::text[]) WITH ORDINALITY AS t (term, number)"""


def always_told(*, of_user: bool) -> tuple[str, ...]:
    """The types of memories that every prompt holds; who the person is, in those about them."""
    return ("identity", "user_profile") if of_user else ("identity",)
