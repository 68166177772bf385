"""The search entries whose vectors are closest to one, exactly or by the approximate index."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import numpy as np
from django.conf import settings
from django.db import connection
from numpy.typing import NDArray

from memory.models import SearchGraph
from memory.selectors.ttl_cache import SharedTTLCache

_COUNTED = 200_000

# In a subquery the vector is parsed once and not for each entry. While a re-embedding is under way
# an entry may have the asked model's vector as its next one.
_EXACT = """
SELECT memory_id, -distance AS cosine FROM ({compared}) AS compared
ORDER BY distance LIMIT %(closest)s
"""
_COMPARED = """
    SELECT memory_id, {vector} <#> (SELECT %(vector)s::float4[]::halfvec) AS distance
    FROM memory_searchentry
    WHERE team_id = %(team)s AND {owner} AND {condition} {outside}
        AND (embedding_model = %(model)s OR next_model = %(model)s)
"""
STORED = "CASE embedding_model WHEN %(model)s THEN embedding ELSE next_embedding END"
_INSIDE = """
SELECT memory_id,
    -(embedding::halfvec({size}) <#> (SELECT %(vector)s::float4[]::halfvec({size}))) AS cosine
FROM memory_searchentry
WHERE team_id = %(team)s AND {condition}
    AND graph_dimensions = {size} AND graph_number = {number} AND embedding_model = %(model)s
ORDER BY embedding::halfvec({size}) <#> (SELECT %(vector)s::float4[]::halfvec({size}))
LIMIT %(closest)s
"""
_SIZE = "SELECT reltuples FROM pg_class WHERE oid = to_regclass(%s)"
_ONE_WAY = "SELECT memory_id, cosine FROM ({}) AS one_way"
_BOTH_WAYS = "SELECT memory_id, cosine FROM (({}) UNION ALL ({})) AS both_ways"
_COUNT = """
SELECT count(*) FROM (
    SELECT FROM memory_searchentry WHERE team_id = %(team)s AND {condition} LIMIT {most}
) AS counted
"""


@dataclass(frozen=True, slots=True)
class VectorSearch:
    """The `limit` entries closest to a unit vector of the model named, among those of a condition.

    `condition` is SQL on search entries with named `parameters`, see `filters.as_sql`. `owners`
    share these entries out by owner, each a range of an index: a plan for all parameters reads a
    team from end to end if it may be one or the other. With `is_exact` the approximate index is not
    used.
    """

    team_id: UUID
    condition: str
    parameters: Mapping[str, Any]  # Any: a parameter of any type
    vector: NDArray[np.float32]
    embedding_model: str
    limit: int
    is_exact: bool = False
    owners: tuple[str, ...] = ("TRUE",)

    def planning(self) -> dict[str, Any]:  # Any: keywords of `fetch_planned`
        """Returns how PostgreSQL must plan a statement that holds this one.

        A plan for all parameters does not know that the approximate index pays; but where sorts are
        to be avoided, it alone gives the vectors in order.
        """
        if self.graph() is None:
            return {}
        return {"is_ordered": True, "also": scan_settings()}

    def all_parameters(self) -> dict[str, Any]:
        """Returns the parameters of the statement."""
        return {
            **self.parameters,
            "team": self.team_id,
            "model": self.embedding_model,
            "vector": self.vector,
            "closest": self.limit,
        }

    def statement(self) -> str:
        """Returns its SQL: memory_id and cosine, in no order; up to twice as many."""
        graph = self.graph()
        if graph is None:
            return _ONE_WAY.format(self._exact())
        outside = self._exact("AND graph_dimensions = 0")
        inside = _INSIDE.format(
            size=graph.dimensions, number=graph.number, condition=self.condition
        )
        return _BOTH_WAYS.format(outside, inside)

    def _exact(self, outside: str = "") -> str:
        compared = " UNION ALL ".join(
            _COMPARED.format(vector=STORED, owner=owner, condition=self.condition, outside=outside)
            for owner in self.owners
        )
        return _EXACT.format(compared=compared)

    def graph(self) -> SearchGraph | None:
        """Returns the approximate index that the search uses, or None if it is exact."""
        if self.is_exact:
            return None
        graph = graph_of(team_id=self.team_id, embedding_model=self.embedding_model)
        total = self.total()
        if graph is None or total <= settings.EXACT_SEARCH_LIMIT:
            return None
        # An exact search looks at each entry; the graph is walked until enough of what it meets is
        # among them.
        walked = self.limit * max(size_of(graph), total) / total
        return graph if total > settings.GRAPH_STEP_COST * walked else None

    @property
    def owner(self) -> Hashable:
        return (self.team_id, self.condition, *map(str, self.parameters.values()))

    def total(self) -> int:
        """Returns how many entries the condition leaves, as of a minute ago, counted to 200,000.

        Or so far as it takes to tell whether an exact search is due, if that is further.
        """
        known: int | None = _totals.get(self.owner)
        if known is None:
            most = max(_COUNTED, settings.EXACT_SEARCH_LIMIT + 1)
            with connection.cursor() as cursor:
                cursor.execute(
                    _COUNT.format(condition=self.condition, most=most), self.all_parameters()
                )
                known = int(cursor.fetchone()[0])
            _totals.put(self.owner, known)
        return known


_graphs, _totals = SharedTTLCache(), SharedTTLCache()


def scan_settings(*, breadth: int | None = None) -> dict[str, str]:
    """Returns settings that let searches of an approximate index walk as far as configured.

    With `breadth` no broader than that, which finds a few nearest as well and takes less.
    """
    broadest = settings.GRAPH_EF_SEARCH
    return {
        "hnsw.iterative_scan": "relaxed_order",
        "hnsw.ef_search": str(broadest if breadth is None else min(breadth, broadest)),
        "hnsw.max_scan_tuples": str(settings.GRAPH_MAX_SCAN),
    }


def graph_of(*, team_id: UUID, embedding_model: str) -> SearchGraph | None:
    """Returns the team's approximate index of that model's vectors; None if searches are exact."""
    known = _graphs.get(team_id)
    if known is None:
        known = SearchGraph.objects.filter(team_id=team_id).first() or False
        _graphs.put(team_id, known)
    return known if known and known.model == embedding_model else None


def size_of(graph: SearchGraph) -> int:
    """Returns how many vectors of all its teams a graph holds, as PostgreSQL last counted them."""
    name = f"memory_search_graph_{graph.dimensions}_{graph.number}"
    with connection.cursor() as cursor:
        cursor.execute(_SIZE, [f"public.{name}"])
        found = cursor.fetchone()
    return max(0, int(found[0])) if found else 0


def forget_graphs() -> None:
    """Clears the caches of this module, as after a change of an approximate index."""
    _graphs.clear()
    _totals.clear()
