"""The text of the statement that reads all five signals, for each shape of viewer and question."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from memory.models.querysets import visible_to_q
from memory.models.search import Place
from memory.selectors.conditions import TABLE, viewer_sql
from memory.selectors.searching.search_statement import LIMITS, common_parts
from memory.selectors.searching.signal_parts import (
    ACCESSED,
    CONTINUED,
    IMPORTANT_FROM,
    READ_PROPOSED,
    RELATED,
    SIGNAL_LIMITS,
    TERM_QUERIES,
    always_told,
)

SEMANTIC_LIMIT = LIMITS["NEAR_LIMIT"]
_STATEMENT = """{searched}, recent AS ({recent}), accessed AS ({accessed}),
mandatory AS ({mandatory}), important AS ({important}), continued AS ({continued}), {related},
chosen AS MATERIALIZED (
    SELECT memory_id FROM hits
    UNION SELECT memory_id FROM around
    UNION SELECT memory_id FROM recent
    UNION SELECT memory_id FROM accessed
    UNION SELECT memory_id FROM mandatory
    UNION SELECT memory_id FROM important
    UNION SELECT memory_id FROM continued
    UNION SELECT memory_id FROM related{given}
), {held}, proposed AS MATERIALIZED (
    SELECT memory_id, held.terms, related.strength
    FROM chosen LEFT JOIN held USING (memory_id) LEFT JOIN related USING (memory_id)
)
SELECT{question}, {read}
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
    WITH wanted AS MATERIALIZED (
        {queries}
    )
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
        AND memory_searchentry.importance >= {IMPORTANT_FROM} AND {visible} {only_memory}
    ORDER BY {forwards}memory_searchentry.importance DESC, memory_searchentry.id DESC
    LIMIT {IMPORTANCE_LIMIT}
)"""
# Of given memories as many as are wanted, whatever the signals say of them.
_OF_GIVEN = """
    UNION (SELECT id FROM unnest(%(only)s::uuid[]) AS given (id) LIMIT %(least)s::int)"""
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
    """The statement for the shape; `near` is that of the vector search."""
    terms = {
        **LIMITS,
        **SIGNAL_LIMITS,
        "IMPORTANT_FROM": IMPORTANT_FROM,
        "queries": TERM_QUERIES,
        "condition": shape.condition,
        "visible": shape.visible,
        "placed": shape.placed,
        "only": _only("memory_id", shape.is_narrowed),
        "only_memory": _only("id", shape.is_narrowed),
        "live": _LIVE,
        "always": ", ".join(f"'{each}'" for each in always_told(of_user=shape.of_user)),
    }
    found = (_READ if shape.is_narrowed else _INDEXED).format(
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
        near=near,
        condition=shape.condition,
    )
    return _STATEMENT.format(
        **common,
        recent=by_owner(_RECENT),
        accessed=ACCESSED.format(**terms),
        mandatory=by_owner(_MANDATORY),
        important=by_owner(_IMPORTANT),
        continued=CONTINUED.format(**terms),
        related=RELATED.format(**terms),
        given=_OF_GIVEN if shape.is_narrowed else "",
        read=READ_PROPOSED.format(
            condition=shape.condition,
            cosine=common["cosine"],
            terms="coalesce(proposed.terms, 0)",
        ),
    )
