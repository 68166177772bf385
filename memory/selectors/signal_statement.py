"""The text of the statement that reads all five signals, for each shape of viewer and question."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from memory.models.querysets import visible_to_q
from memory.models.search import Place
from memory.selectors.conditions import TABLE, viewer_sql
from memory.selectors.search_statement import LIMITS, common_parts

SEMANTIC_LIMIT = LIMITS["NEAR_LIMIT"]
_LIMITS = {
    **LIMITS,
    "RECENCY_LIMIT": 30,
    "IMPORTANCE_LIMIT": 30,
    "MANDATORY_LIMIT": 1000,
    "CONTINUITY_LIMIT": 20,
    "RELATION_LIMIT": 20,
}

# Aliases are the search entries' own name, so that the compiled condition fits each of them. What
# is read of what was found is looked up one by one, which OFFSET makes sure of: with joins the
# planner may read the whole team.
_STATEMENT = """{searched}, recent AS ({recent}), accessed AS (
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
), mandatory AS ({mandatory}), important AS ({important}), continued AS (
    SELECT memory_searchentry.memory_id FROM memory_searchentry
    WHERE memory_searchentry.team_id = %(team)s
        AND memory_searchentry.conversation_id = %(conversation)s::uuid AND {condition}
    ORDER BY memory_searchentry.position DESC LIMIT {CONTINUITY_LIMIT}
), edges AS (
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
), chosen AS MATERIALIZED (
    SELECT memory_id FROM hits
    UNION SELECT memory_id FROM around
    UNION SELECT memory_id FROM recent
    UNION SELECT memory_id FROM accessed
    UNION SELECT memory_id FROM mandatory
    UNION SELECT memory_id FROM important
    UNION SELECT memory_id FROM continued
    UNION SELECT memory_id FROM related{changed}
), {held}, proposed AS MATERIALIZED (
    SELECT memory_id, held.terms, related.strength
    FROM chosen LEFT JOIN held USING (memory_id) LEFT JOIN related USING (memory_id)
)
SELECT{question},
    m.id, m.memory_type, m.status, m.importance, m.is_pinned,
    extract(epoch FROM coalesce(u.last_accessed_at, m.created_at))::float8,
    memory_searchentry.conversation_id, memory_searchentry.position,
    extract(epoch FROM memory_searchentry.said_at)::float8,
    extract(epoch FROM memory_searchentry.held_from)::float8,
    extract(epoch FROM memory_searchentry.held_until)::float8,
    array_to_string(memory_searchentry.people, ' '), coalesce(proposed.terms, 0),{cosine},
    proposed.strength,
    m.end_user_id, m.project_id, m.content, m.subject, m.category, m.scope,
    nullif(m.tags, '{{}}'), nullif(m.contradicts, '{{}}'),
    m.confidence, coalesce(u.succeeded, 0), coalesce(u.failed, 0),
    m.row_xmin, m.row_ctid, u.row_xmin, u.row_ctid
FROM proposed
CROSS JOIN LATERAL (
    SELECT * FROM memory_searchentry e
    WHERE e.team_id = %(team)s AND e.memory_id = proposed.memory_id OFFSET 0
) AS memory_searchentry
CROSS JOIN LATERAL (
    SELECT *, o.xmin AS row_xmin, o.ctid AS row_ctid FROM memory_memory o
    WHERE o.team_id = %(team)s AND o.id = proposed.memory_id OFFSET 0
) AS m
LEFT JOIN LATERAL (
    SELECT *, o.xmin AS row_xmin, o.ctid AS row_ctid FROM memory_memoryusage o
    WHERE o.team_id = %(team)s AND o.memory_id = proposed.memory_id OFFSET 0
) AS u ON TRUE
WHERE {condition}
    AND (cardinality(%(categories)s::text[]) = 0 OR m.category = ANY (%(categories)s::text[]))
"""
# (The rule of visibility holds for nearly all that the index gives; in a CASE the planner does not
# take it for one that leaves a single row.)
# Looked up in the index of words; and, where the search is held to given memories, in each of them:
# of a common word the index gives only some memories, which need not be among the given ones.
_INDEXED = """
    SELECT memory_searchentry.term, memory_searchentry.memory_id
    FROM palimpsest_matches(
        %(team)s::uuid, %(owners)s::text[], %(with_cold)s::boolean, %(terms)s::text[],
        %(most)s::int, {agent}::uuid, {project}::uuid
    ) AS memory_searchentry
    WHERE CASE WHEN {visible} AND {placed} THEN TRUE END
"""
# Each term's query is made once, and not for each entry that it is compared with.
_ASKED = """WITH wanted AS MATERIALIZED (
        SELECT number::int AS term, (
            SELECT string_agg('''' || replace(lexeme, '''', '''''') || '''', ' & ')::tsquery
            FROM unnest(tsvector_to_array(to_tsvector('english', t.term))) AS lexeme
        ) AS query
        FROM unnest(%(terms)s::text[]) WITH ORDINALITY AS t (term, number)
    )"""
_CHANGED = """
    UNION SELECT memory_id FROM unnest(%(changed)s::uuid[]) AS changed (memory_id)"""
_READ_CHANGED = """
    {asked}
    SELECT wanted.term, memory_searchentry.memory_id
    FROM unnest(%(changed)s::uuid[]) AS changed (memory_id)
    CROSS JOIN LATERAL (
        SELECT * FROM memory_searchentry e
        WHERE e.team_id = %(team)s AND e.memory_id = changed.memory_id OFFSET 0
    ) AS memory_searchentry
    JOIN wanted ON memory_searchentry.lexemes @@ wanted.query
    WHERE {condition}
"""
_NEAR_SKETCHED = """
    SELECT memory_searchentry.memory_id, -((CASE memory_searchentry.embedding_model
        WHEN %(model)s THEN memory_searchentry.embedding
        ELSE memory_searchentry.next_embedding END) <#> (SELECT vector FROM asked)) AS cosine
    FROM unnest(%(near_ids)s::uuid[] || %(changed)s::uuid[]) AS given (memory_id)
    CROSS JOIN LATERAL (
        SELECT * FROM memory_searchentry e
        WHERE e.team_id = %(team)s AND e.memory_id = given.memory_id OFFSET 0
    ) AS memory_searchentry
    WHERE {condition} AND %(model)s
        IN (memory_searchentry.embedding_model, memory_searchentry.next_model)
    ORDER BY 2 DESC, 1 LIMIT {NEAR_LIMIT}
"""
_READ = """
    {asked}
    SELECT wanted.term, memory_searchentry.memory_id
    FROM wanted
    JOIN memory_searchentry ON memory_searchentry.lexemes @@ wanted.query
    WHERE memory_searchentry.team_id = %(team)s AND {condition}
"""
_RECENT = """(
    SELECT memory_searchentry.memory_id FROM memory_searchentry
    WHERE memory_searchentry.team_id = %(team)s AND {owner} AND memory_searchentry.place = 0
        AND {visible} {only}
    ORDER BY {backwards}memory_searchentry.memory_id DESC LIMIT {RECENCY_LIMIT}
)"""
_MANDATORY = """(
    SELECT memory_searchentry.id AS memory_id FROM memory_memory AS memory_searchentry
    WHERE memory_searchentry.team_id = %(team)s AND {owner} AND {live}
        AND (memory_searchentry.is_pinned OR memory_searchentry.memory_type IN ({always}))
        AND {visible} {only_memory}
    LIMIT {MANDATORY_LIMIT}
)"""
_IMPORTANT = """(
    SELECT memory_searchentry.id AS memory_id FROM memory_memory AS memory_searchentry
    WHERE memory_searchentry.team_id = %(team)s AND {owner} AND {live}
        AND memory_searchentry.importance >= 7 AND {visible} {only_memory}
    ORDER BY {forwards}memory_searchentry.importance DESC, memory_searchentry.id DESC
    LIMIT {IMPORTANCE_LIMIT}
)"""
_LIVE = "memory_searchentry.status IN ('active', 'disputed') AND memory_searchentry.tier <> 'cold'"
# Of an end user's viewer: what is theirs and what is nobody's, each a range of an index.
OWNERS = (
    "memory_searchentry.end_user_id = %(end_user)s",
    "memory_searchentry.end_user_id IS NULL",
)

# Within one owner these say nothing; they keep the planner, which does not know how few rows of a
# team belong to nobody, from going through the whole team in the wanted order.
_FORWARDS = "memory_searchentry.end_user_id, "
_BACKWARDS = "memory_searchentry.end_user_id DESC, memory_searchentry.place DESC, "
NOWHERE = "SELECT NULL::uuid AS memory_id, NULL::float8 AS cosine WHERE FALSE"
# In the place of a vector search: what a sketch of the team proposes.
SKETCHED = "sketched"
# What an approximate index has found already.
GIVEN = """
SELECT * FROM unnest(%(near_ids)s::uuid[], %(near_cosines)s::float8[]) AS given (memory_id, cosine)
"""
_HAS_COLD = """
SELECT EXISTS (
    SELECT FROM memory_searchentry
    WHERE team_id = %(team)s AND memory_searchentry.place = {cold} AND {visible}
)
"""


@dataclass(frozen=True, slots=True)
class Shape:
    """What the text of the statement depends on.

    A viewer is narrowed to an agent, an end user, a project or to none; `is_narrowed` says that
    the search is held to given memories, `with_cold` that cold and past ones are looked at.
    """

    of_agent: bool
    of_user: bool
    of_project: bool
    is_narrowed: bool = False
    with_cold: bool = False

    @property
    def visible(self) -> str:
        """The rule of visibility as SQL, with the parameters agent, end_user and project."""
        return viewer_sql(
            visible_to_q,
            of_agent=self.of_agent,
            of_user=self.of_user,
            of_project=self.of_project,
        )

    @property
    def placed(self) -> str:
        """Where the searched entries stand."""
        looks_back = self.with_cold or self.is_narrowed
        last = Place.PAST if looks_back else Place.FOUND
        sign = "<=" if looks_back else "="
        return f"memory_searchentry.place {sign} {last.value}"

    @property
    def condition(self) -> str:
        """All that holds for a searched entry."""
        return " ".join((self.visible, "AND", self.placed, _only("memory_id", self.is_narrowed)))

    def has_cold(self) -> str:
        """The statement that tells whether any live memory is cold."""
        return _HAS_COLD.format(visible=self.visible, cold=Place.COLD.value)


def _only(column: str, is_narrowed: bool) -> str:
    return f"AND memory_searchentry.{column} = ANY (%(only)s::uuid[])" if is_narrowed else ""


@lru_cache
def signal_statement(shape: Shape, near: str) -> str:
    """The statement for the shape; `near` is that of the vector search, or SKETCHED."""
    terms = {
        **_LIMITS,
        "asked": _ASKED,
        "condition": shape.condition,
        "visible": shape.visible,
        "placed": shape.placed,
        "only": _only("memory_id", shape.is_narrowed),
        "only_memory": _only("id", shape.is_narrowed),
        "live": _LIVE,
        # Who the person is belongs into every prompt about that person.
        "always": "'identity', 'user_profile'" if shape.of_user else "'identity'",
    }
    is_sketched = near == SKETCHED

    lookup = _READ if shape.is_narrowed else _INDEXED
    found = (_READ_CHANGED if is_sketched else lookup).format(
        **terms,
        agent="%(agent)s" if shape.of_agent else "NULL",
        project="%(project)s" if shape.of_project else "NULL",
    )

    def by_owner(branch: str) -> str:
        if not shape.of_user:
            return branch.format(**terms, owner="TRUE", forwards="", backwards="")
        return " UNION ALL ".join(
            branch.format(**terms, owner=owner, forwards=_FORWARDS, backwards=_BACKWARDS)
            for owner in OWNERS
        )

    common = common_parts(
        entry=TABLE,
        key="memory_id",
        found=found,
        near=_NEAR_SKETCHED.format(**terms) if is_sketched else near,
        condition=shape.condition,
        words_are_known=is_sketched,
    )
    return _STATEMENT.format(
        **terms,
        **common,
        changed=_CHANGED if is_sketched else "",
        recent=by_owner(_RECENT),
        mandatory=by_owner(_MANDATORY),
        important=by_owner(_IMPORTANT),
    )
