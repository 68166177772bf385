"""The text of the statement that reads what a sketch proposes, and what was changed since."""

from __future__ import annotations

from functools import lru_cache

from memory.selectors.conditions import TABLE
from memory.selectors.searching.search_statement import AROUND, COSINE, LIMITS
from memory.selectors.searching.signal_parts import (
    ACCESSED,
    CONTINUED,
    READ_PROPOSED,
    RELATED,
    SIGNAL_LIMITS,
    TERM_QUERIES,
)
from memory.selectors.searching.signal_statement import Shape

# What was changed is looked for in the log, so that one snapshot holds the changes and the rest.
_STATEMENT = """
WITH asked AS MATERIALIZED (
    SELECT %(vector)s::float4[]::halfvec AS vector
), changed AS MATERIALIZED (
    SELECT * FROM unnest(%(lacking)s::uuid[]) AS lacking (memory_id)
    UNION
    (SELECT DISTINCT l.memory_id
    FROM audit_logcommit c
    CROSS JOIN LATERAL (
        SELECT memory_id FROM audit_memorylog l
        WHERE l.team_id = %(team)s AND l.commit_id = c.id OFFSET 0
    ) AS l
    WHERE c.team_id = %(team)s AND c.position > %(position)s LIMIT %(most_changed)s)
), written AS MATERIALIZED (
    SELECT memory_searchentry.memory_id, memory_searchentry.lexemes, {cosine} AS cosine
    FROM changed
    CROSS JOIN LATERAL (
        SELECT * FROM memory_searchentry e
        WHERE e.team_id = %(team)s AND e.memory_id = changed.memory_id OFFSET 0
    ) AS memory_searchentry
    WHERE {condition}
), wanted AS MATERIALIZED (
    {queries}
), held AS MATERIALIZED (
    SELECT written.memory_id, bit_or(1::bigint << (wanted.term - 1)) AS terms
    FROM written JOIN wanted ON written.lexemes @@ wanted.query GROUP BY written.memory_id
), core AS MATERIALIZED (
    SELECT memory_id FROM (
        SELECT * FROM unnest(%(core_ids)s::uuid[], %(core_promises)s::float8[])
            AS known (memory_id, promise)
        UNION ALL
        SELECT memory_id, coalesce(cosine, 0) FROM written
    ) AS hits ORDER BY promise DESC, memory_id LIMIT {CORE_LIMIT}
), around AS ({around}), accessed AS ({accessed}), continued AS ({continued}), {related},
chosen AS MATERIALIZED (
    SELECT memory_id, max(terms) AS terms, max(strength) AS strength
    FROM (
        SELECT memory_id, terms, NULL::float8 AS strength
        FROM unnest(%(given_ids)s::uuid[], %(given_terms)s::bigint[]) AS given (memory_id, terms)
        UNION ALL SELECT memory_id, NULL, NULL FROM around
        UNION ALL SELECT memory_id, NULL, NULL FROM accessed
        UNION ALL SELECT memory_id, NULL, NULL FROM continued
        UNION ALL SELECT memory_id, NULL, NULL FROM changed
        UNION ALL SELECT memory_id, NULL, strength FROM related
    ) AS each
    GROUP BY memory_id
), proposed AS MATERIALIZED (
    SELECT memory_id, changed.memory_id IS NOT NULL AS is_changed, strength,
        CASE WHEN changed.memory_id IS NULL THEN chosen.terms ELSE coalesce(held.terms, 0) END
            AS terms
    FROM chosen LEFT JOIN changed USING (memory_id) LEFT JOIN held USING (memory_id)
)
SELECT (SELECT count(*) FROM changed), proposed.is_changed, {read}
"""
# The first columns tell how much was changed, and whether the row is of that.
LEADING_COLUMNS = 2
# A memory's category stands beside the memory; a join could read the whole team.
_ALLOWED = """ AND (
    SELECT category FROM memory_memory o
    WHERE o.team_id = %(team)s AND o.id = memory_searchentry.memory_id
) = ANY (%(categories)s::text[])"""


@lru_cache
def sketched_statement(shape: Shape, *, has_categories: bool) -> str:
    """The statement for the shape; with `has_categories` for an agent that reads some only."""
    condition = shape.condition + (_ALLOWED if has_categories else "")
    names = {
        **LIMITS,
        **SIGNAL_LIMITS,
        "entry": TABLE,
        "key": "memory_id",
        "condition": condition,
    }
    return _STATEMENT.format(
        **names,
        cosine=COSINE.format(**names),
        queries=TERM_QUERIES,
        around=AROUND.format(**names),
        accessed=ACCESSED.format(**names),
        continued=CONTINUED.format(**names),
        related=RELATED.format(**names),
        read=READ_PROPOSED.format(
            condition=shape.condition, cosine=COSINE.format(**names), terms="proposed.terms"
        ),
    )
