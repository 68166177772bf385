"""The five signals among the memories of a small owner: all of them are candidates.

What a signal proposes of a few memories is most of them, and to look for it by words, nearness,
rank and company takes longer than to read them all: no index of words is asked, and whose a memory
is, its words and its vector are read in one go.
"""

from __future__ import annotations

from functools import lru_cache

from django.conf import settings

from memory.domain.viewer import Viewer
from memory.selectors.conditions import viewer_parameters
from memory.selectors.prepared import fetch_planned
from memory.selectors.searching.search_statement import (
    COSINE,
    LIMITS,
    QUESTION,
    QUESTION_COLUMNS,
    Holding,
    most_of_a_term,
)
from memory.selectors.searching.signal_parts import (
    MEMORY_OF,
    READ_COLUMNS,
    RELATED,
    SIGNAL_LIMITS,
    TERM_QUERIES,
    USAGE_OF,
)
from memory.selectors.searching.signal_rows import Found, SignalRow, Sought
from memory.selectors.searching.signal_statement import OWNERS, Shape

# The words are looked for in what holds any of them, which is little of it. The planner takes a
# CASE to hold for half of all rows and joins by hashes; it takes what holds words for one row, and
# would compare each memory with each that does.
_STATEMENT = """
WITH asked AS MATERIALIZED (
    SELECT %(vector)s::float4[]::halfvec AS vector
), wanted AS MATERIALIZED (
    {queries}
), any_wanted AS MATERIALIZED (
    SELECT string_agg('(' || query::text || ')', ' | ')::tsquery AS query
    FROM wanted WHERE query IS NOT NULL
), own AS MATERIALIZED (
    {own} LIMIT %(most)s::int
), worded AS MATERIALIZED (
    SELECT memory_id, lexemes FROM own
    WHERE CASE WHEN lexemes @@ (SELECT query FROM any_wanted) THEN TRUE ELSE FALSE END
), found AS MATERIALIZED (
    SELECT wanted.term, worded.memory_id
    FROM worded JOIN wanted
        ON CASE WHEN worded.lexemes @@ wanted.query THEN TRUE ELSE FALSE END
), counts AS MATERIALIZED (
    SELECT term, count(*) AS seen FROM found GROUP BY term
), rarities AS MATERIALIZED (
    SELECT term, seen, ln(1 + greatest(%(total)s::float8 - seen + 0.5, 0.5) / (seen + 0.5)) AS idf
    FROM counts
), held AS MATERIALIZED (
    SELECT f.memory_id, bit_or(1::bigint << (f.term - 1)) AS terms, sum(r.idf) AS weight
    FROM found f JOIN rarities r USING (term) GROUP BY f.memory_id
), core AS MATERIALIZED (
    SELECT memory_id FROM own LEFT JOIN held USING (memory_id)
    ORDER BY coalesce(held.weight / nullif((SELECT sum(idf) FROM rarities), 0), 0)
        + coalesce(own.cosine, 0) DESC, memory_id
    LIMIT {CORE_LIMIT}
), {related}
SELECT{question}, {read}
FROM own AS memory_searchentry
LEFT JOIN held USING (memory_id)
LEFT JOIN related AS proposed USING (memory_id)
{memory}
{usage}
"""
_OWN = """
    SELECT memory_searchentry.memory_id, memory_searchentry.conversation_id,
        memory_searchentry.position, memory_searchentry.said_at, memory_searchentry.held_from,
        memory_searchentry.held_until, memory_searchentry.people, memory_searchentry.lexemes,
        {cosine} AS cosine
    FROM memory_searchentry
    WHERE memory_searchentry.team_id = %(team)s AND {owner} AND {condition}
"""


def find_among_few(*, viewer: Viewer, sought: Sought, total: int) -> Found | None:
    """Every memory that the viewer may see and finds by default; call it in the team's scope.

    Whatever its category: the viewer is one that may read all of them.

    None where they are more than READ_WHOLE_UP_TO by now, whatever `total`, which is of a while
    ago, says.
    """
    shape = Shape(
        of_agent=viewer.agent_id is not None,
        of_user=viewer.end_user_id is not None,
        of_project=viewer.project_id is not None,
    )
    terms = list(sought.terms)
    given = {
        **viewer_parameters(viewer),
        "vector": sought.vector,
        # No entry is of no model: without a vector there is no cosine to read.
        "model": sought.embedding_model if sought.vector.any() else None,
        "total": total,
        "terms": terms,
        "most": settings.READ_WHOLE_UP_TO + 1,
    }
    rows = fetch_planned(_statement(shape), given)
    if len(rows) > settings.READ_WHOLE_UP_TO:
        return None
    # Among so few no term is too frequent to say anything.
    holding = Holding.of(rows, terms=terms, total=total, most=most_of_a_term(total))
    return Found(
        rows=[SignalRow._make(each[QUESTION_COLUMNS:]) for each in rows],
        total=total,
        holding=holding.counts,
        without_lexeme=holding.without_lexeme,
    )


@lru_cache
def _statement(shape: Shape) -> str:
    own = " UNION ALL ".join(
        _OWN.format(
            cosine=COSINE.format(entry="memory_searchentry"),
            owner=owner,
            condition=shape.condition,
        )
        for owner in (OWNERS if shape.of_user else ("TRUE",))
    )
    return _STATEMENT.format(
        queries=TERM_QUERIES,
        own=own,
        CORE_LIMIT=LIMITS["CORE_LIMIT"],
        related=RELATED.format(**SIGNAL_LIMITS),
        question=QUESTION,
        read=READ_COLUMNS.format(
            terms="coalesce(held.terms, 0)", cosine="memory_searchentry.cosine"
        ),
        memory=MEMORY_OF.format(of="memory_searchentry"),
        usage=USAGE_OF.format(of="memory_searchentry"),
    )
