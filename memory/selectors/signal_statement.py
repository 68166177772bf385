"""The text of the statement that reads all five signals, for each shape of viewer and question."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from uuid import UUID

from memory.domain.retrieval.surroundings import REACH
from memory.domain.viewer import Viewer
from memory.models.querysets import visible_to_q
from memory.models.search import Place
from memory.selectors.conditions import as_sql, stand_ins

SEMANTIC_LIMIT = 100
# How many memories each signal proposes (seed 000, step 3, and measured on conversations).
_LIMITS = {
    "LEXICAL_LIMIT": 100,
    "CORE_LIMIT": 30,
    "NEIGHBOURS_LIMIT": 20,
    "RECENCY_LIMIT": 30,
    "IMPORTANCE_LIMIT": 30,
    "MANDATORY_LIMIT": 1000,
    "CONTINUITY_LIMIT": 20,
    "RELATION_LIMIT": 20,
    "REACH": REACH,
}

# Aliases are the search entries' own name, so that the compiled condition fits each of them.
_STATEMENT = """
WITH found AS MATERIALIZED (
    {found}
), counts AS MATERIALIZED (
    SELECT term, count(*) AS seen FROM found GROUP BY term
), rarities AS MATERIALIZED (
    SELECT term, seen, ln(1 + greatest(%(total)s::float8 - seen + 0.5, 0.5) / (seen + 0.5)) AS idf
    FROM counts
    WHERE seen < %(most)s::int OR NOT EXISTS (SELECT FROM counts WHERE seen < %(most)s::int)
), lexical AS MATERIALIZED (
    SELECT f.memory_id, sum(r.idf) AS weight, array_agg(f.term - 1) AS terms
    FROM found f JOIN rarities r USING (term) GROUP BY f.memory_id
), near AS MATERIALIZED (
    {near}
), worded AS MATERIALIZED (
    SELECT memory_id, weight / nullif((SELECT sum(idf) FROM rarities), 0) AS share FROM lexical
    ORDER BY weight DESC, memory_id LIMIT {LEXICAL_LIMIT}
), hits AS MATERIALIZED (
    SELECT memory_id, coalesce(w.share, 0) + coalesce(n.cosine, 0) AS promise
    FROM near n FULL JOIN worded w USING (memory_id)
), core AS MATERIALIZED (
    SELECT memory_id FROM hits ORDER BY promise DESC, memory_id LIMIT {CORE_LIMIT}
), around AS (
    SELECT n.memory_id
    FROM core c
    JOIN memory_searchentry e ON e.team_id = %(team)s AND e.memory_id = c.memory_id
    CROSS JOIN LATERAL (
        SELECT memory_searchentry.memory_id FROM memory_searchentry
        WHERE memory_searchentry.team_id = %(team)s
            AND memory_searchentry.conversation_id = e.conversation_id
            AND memory_searchentry.position BETWEEN e.position - {REACH} AND e.position + {REACH}
            AND {visible} AND {placed} {only}
        LIMIT {NEIGHBOURS_LIMIT}
    ) n
), recent AS ({recent}), accessed AS (
    SELECT memory_searchentry.memory_id
    FROM (
        SELECT memory_id FROM memory_memoryusage
        WHERE team_id = %(team)s AND last_accessed_at IS NOT NULL
        ORDER BY last_accessed_at DESC LIMIT {RECENCY_LIMIT}
    ) u
    JOIN memory_searchentry ON memory_searchentry.team_id = %(team)s
        AND memory_searchentry.memory_id = u.memory_id
    WHERE {visible} AND {placed} {only}
), mandatory AS ({mandatory}), important AS ({important}), continued AS (
    SELECT memory_searchentry.memory_id FROM memory_searchentry
    WHERE memory_searchentry.team_id = %(team)s
        AND memory_searchentry.conversation_id = %(conversation)s::uuid
        AND {visible} AND {placed} {only}
    ORDER BY memory_searchentry.position DESC LIMIT {CONTINUITY_LIMIT}
), edges AS (
    SELECT r.to_memory_id AS memory_id, r.strength FROM core c
    JOIN memory_memoryrelation r ON r.team_id = %(team)s AND r.from_memory_id = c.memory_id
    UNION ALL
    SELECT r.from_memory_id, r.strength FROM core c
    JOIN memory_memoryrelation r ON r.team_id = %(team)s AND r.to_memory_id = c.memory_id
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
    UNION SELECT memory_id FROM related
)
SELECT
    (SELECT array_agg(term) FROM rarities),
    (SELECT array_agg(seen) FROM rarities),
    (SELECT array_agg(term) FROM counts),
    (SELECT array_agg(number) FROM unnest(%(terms)s::text[]) WITH ORDINALITY AS t (term, number)
        WHERE length(to_tsvector('english', term)) = 0),
    m.id, m.memory_type, m.status, m.importance, m.is_pinned,
    extract(epoch FROM coalesce(u.last_accessed_at, m.created_at))::float8,
    memory_searchentry.conversation_id, memory_searchentry.position,
    extract(epoch FROM memory_searchentry.said_at)::float8,
    extract(epoch FROM memory_searchentry.held_from)::float8,
    extract(epoch FROM memory_searchentry.held_until)::float8,
    memory_searchentry.people, coalesce(l.terms, '{{}}'),
    -((CASE %(model)s::text
        WHEN memory_searchentry.embedding_model THEN memory_searchentry.embedding
        WHEN memory_searchentry.next_model THEN memory_searchentry.next_embedding
    END) <#> %(vector)s::halfvec),
    r.strength,
    m.end_user_id, m.project_id, m.content, m.subject, m.category, m.scope, m.tags, m.contradicts,
    m.confidence, coalesce(u.succeeded, 0), coalesce(u.failed, 0)
FROM chosen
JOIN memory_searchentry ON memory_searchentry.team_id = %(team)s
    AND memory_searchentry.memory_id = chosen.memory_id
JOIN memory_memory m ON m.team_id = %(team)s AND m.id = chosen.memory_id
LEFT JOIN memory_memoryusage u ON u.team_id = %(team)s AND u.memory_id = m.id
LEFT JOIN lexical l ON l.memory_id = m.id
LEFT JOIN related r ON r.memory_id = m.id
WHERE {visible} AND {placed} {only}
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
_READ = """
    SELECT asked.term, memory_searchentry.memory_id
    FROM (
        SELECT number::int AS term, (
            SELECT string_agg('''' || replace(lexeme, '''', '''''') || '''', ' & ')::tsquery
            FROM unnest(tsvector_to_array(to_tsvector('english', t.term))) AS lexeme
        ) AS query
        FROM unnest(%(terms)s::text[]) WITH ORDINALITY AS t (term, number)
    ) AS asked
    JOIN memory_searchentry ON memory_searchentry.lexemes @@ asked.query
    WHERE memory_searchentry.team_id = %(team)s AND {visible} AND {placed} {only}
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
_OWNERS = (
    "memory_searchentry.end_user_id = %(end_user)s",
    "memory_searchentry.end_user_id IS NULL",
)

# Within one owner these say nothing; they keep the planner, which does not know how few rows of a
# team belong to nobody, from going through the whole team in the wanted order.
_FORWARDS = "memory_searchentry.end_user_id, "
_BACKWARDS = "memory_searchentry.end_user_id DESC, memory_searchentry.place DESC, "
NOWHERE = "SELECT NULL::uuid AS memory_id, NULL::float8 AS cosine WHERE FALSE"


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
        return _visible(self.of_agent, self.of_user, self.of_project)

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


def _only(column: str, is_narrowed: bool) -> str:
    return f"AND memory_searchentry.{column} = ANY (%(only)s::uuid[])" if is_narrowed else ""


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
    return as_sql(visible_to_q(viewer), parameters=stands)


@lru_cache
def signal_statement(shape: Shape, near: str) -> str:
    """The statement for the shape; `near` is that of the vector search."""
    terms = {
        **_LIMITS,
        "visible": shape.visible,
        "placed": shape.placed,
        "only": _only("memory_id", shape.is_narrowed),
        "only_memory": _only("id", shape.is_narrowed),
        "live": _LIVE,
        "near": near,
        # Who the person is belongs into every prompt about that person.
        "always": "'identity', 'user_profile'" if shape.of_user else "'identity'",
    }

    lookup = _READ if shape.is_narrowed else _INDEXED
    found = lookup.format(
        **terms,
        agent="%(agent)s" if shape.of_agent else "NULL",
        project="%(project)s" if shape.of_project else "NULL",
    )

    def by_owner(branch: str) -> str:
        if not shape.of_user:
            return branch.format(**terms, owner="TRUE", forwards="", backwards="")
        return " UNION ALL ".join(
            branch.format(**terms, owner=owner, forwards=_FORWARDS, backwards=_BACKWARDS)
            for owner in _OWNERS
        )

    return _STATEMENT.format(
        **terms,
        found=found,
        recent=by_owner(_RECENT),
        mandatory=by_owner(_MANDATORY),
        important=by_owner(_IMPORTANT),
    )
