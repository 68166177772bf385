"""The nearest stored memories of new ones, by one statement for all of one kind of owner."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from memory.models import SearchGraph
from memory.selectors.neighbours.comparison_set import ComparisonSet
from memory.selectors.search.vectors import STORED, VectorSearch, graph_of, scan_settings
from memory.selectors.sql_files import load_sql_parts
from teams.prepared import fetch_planned

_SQL = load_sql_parts(__file__, "nearest.sql")
_OWNER = re.compile(r"%\((agent|end_user|project|author)\)s")
# How broadly the approximate index is walked: enough for a few nearest, in less time.
_BREADTH = 48


@dataclass(frozen=True, slots=True)
class Asked:
    """A new memory whose neighbours are asked for: among which, its vector and subject."""

    among: ComparisonSet
    vector: NDArray[np.float32]
    subject: str = ""


@dataclass(slots=True)
class Found:
    """Ids of stored memories with their cosines: the nearest, and the nearest of the subject."""

    near: dict[UUID, float] = field(default_factory=dict)
    of_subject: dict[UUID, float] = field(default_factory=dict)


def nearest_memories(*, asked: Sequence[Asked], embedding_model: str, limit: int) -> list[Found]:
    """The `limit` nearest live memories of each and as many of its subject, in no order.

    All asked are of one team. What an approximate index holds is found by it, with a recall below
    1, where comparing everything takes longer.
    """
    found = [Found() for _ in asked]
    for (condition, graph), places in _alike(asked, embedding_model, limit).items():
        chosen = [asked[place] for place in places]
        rows = fetch_planned(
            _statement(condition, graph),
            _parameters(chosen, embedding_model, limit),
            is_ordered=graph is not None,
            also=scan_settings(breadth=max(_BREADTH, 2 * limit)) if graph else None,
        )
        for place, pk, cosine, is_of_subject in rows:
            one = found[places[place - 1]]
            (one.of_subject if is_of_subject else one.near)[pk] = cosine
    for one in found:
        one.near = dict(sorted(one.near.items(), key=lambda each: -each[1])[:limit])
    return found


def _alike(
    asked: Sequence[Asked], embedding_model: str, limit: int
) -> dict[tuple[str, SearchGraph | None], list[int]]:
    """The places of those that one statement asks for, each for its own owners."""
    may_use_graph = bool(asked) and graph_of(
        team_id=asked[0].among.owner.team_id, embedding_model=embedding_model
    )
    graphs = {
        each: _graph(each, embedding_model, limit) if may_use_graph else None
        for each in {one.among for one in asked}
    }
    alike: dict[tuple[str, SearchGraph | None], list[int]] = defaultdict(list)
    for place, one in enumerate(asked):
        condition, _ = one.among.condition()
        alike[_OWNER.sub(r"asked.\1", condition), graphs[one.among]].append(place)
    return alike


def _graph(among: ComparisonSet, embedding_model: str, limit: int) -> SearchGraph | None:
    nothing = np.zeros(1, dtype=np.float32)
    team_id = among.owner.team_id
    return VectorSearch(team_id, *among.condition(), nothing, embedding_model, limit).graph()


def _statement(condition: str, graph: SearchGraph | None) -> str:
    exact = _SQL["exact"].format(stored=STORED, condition=condition)
    near = [exact]
    if graph is not None:
        near = [
            _SQL["approximate"].format(
                size=graph.dimensions, number=graph.number, condition=condition
            ),
            _SQL["exact"].format(stored=STORED, condition=condition + " AND graph_dimensions = 0"),
        ]
    of_subject = _SQL["of_subject"].format(stored=STORED, condition=condition)
    return _SQL["asked"] + "\nUNION ALL\n".join([*near, of_subject])


def _parameters(
    asked: Sequence[Asked], embedding_model: str, limit: int
) -> dict[str, Any]:  # Any: a parameter of any type
    owners = [each.among.owner for each in asked]
    return {
        "team": owners[0].team_id,
        "agents": [owner.agent_id for owner in owners],
        "end_users": [owner.end_user_id for owner in owners],
        "projects": [owner.project_id for owner in owners],
        "authors": [each.among.author_id for each in asked],
        "subjects": [each.subject for each in asked],
        "vectors": np.concatenate([each.vector for each in asked]),
        "size": len(asked[0].vector),
        "model": embedding_model,
        "closest": limit,
    }
