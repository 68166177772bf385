"""For which companies of new memories the approximate index of vectors pays."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

import numpy as np
from django.conf import settings

from memory.models import SearchGraph
from memory.models.search import Place
from memory.selectors.meeting.neighbours import Company
from memory.selectors.prepared import fetch_planned
from memory.selectors.searching.vectors import VectorSearch, graph_of, know_total, known_total

_OF_USERS = """
SELECT given.id, (SELECT count(*) FROM (
    SELECT FROM memory_searchentry
    WHERE team_id = %(team)s AND end_user_id = given.id AND place <= %(coldest)s LIMIT %(most)s
) AS counted)
FROM unnest(%(end_users)s::uuid[]) AS given (id)
"""


def graphs_of(
    *, companies: Sequence[Company], embedding_model: str, limit: int
) -> dict[Company, tuple[SearchGraph, int]]:
    """The companies so large that the team's approximate index pays, with their sizes about."""
    if not companies:
        return {}
    team_id = companies[0].audience.team_id
    if graph_of(team_id=team_id, embedding_model=embedding_model) is None:
        return {}
    nothing = np.zeros(1, dtype=np.float32)
    searches = {
        company: VectorSearch(team_id, *company.condition(), nothing, embedding_model, limit)
        for company in companies
    }
    _know_small_ones(team_id, [each for each in searches.items() if _is_unknown(each[1])])
    found = {}
    for company, search in searches.items():
        graph = search.graph()
        if graph is not None:
            found[company] = (graph, search.total())
    return found


def _is_unknown(search: VectorSearch) -> bool:
    return known_total(search.owner) is None


def _know_small_ones(team_id: UUID, searches: Sequence[tuple[Company, VectorSearch]]) -> None:
    """Spare most companies a count of their own: each has no more than its person has."""
    people = {company.audience.end_user_id for company, _ in searches} - {None}
    if not people:
        return
    most = settings.EXACT_SEARCH_LIMIT
    given = {"team": team_id, "end_users": list(people), "coldest": Place.COLD, "most": most + 1}
    totals = dict(fetch_planned(_OF_USERS, given))
    for company, search in searches:
        total = totals.get(company.audience.end_user_id, most + 1)
        if total <= most:
            know_total(search.owner, total)
