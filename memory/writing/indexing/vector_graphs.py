"""The approximate index of vectors of large teams, and the statistics of the planner.

A write never waits for the index: a vector is inserted outside the graph, where searches look
exactly, and moved inside in batches. Small teams, which are nearly all, never pay for it.
"""

from __future__ import annotations

import hashlib
import logging
import random
import time
from collections.abc import Callable
from typing import Any
from uuid import UUID

import psycopg
from django.conf import settings
from django.db import OperationalError, connection
from django.db.models import Q, QuerySet

from memory.models import EmbeddingState, SearchEntry, SearchGraph
from memory.models.search import Place
from memory.selectors.search.vectors import forget_graphs
from teams.services.people import all_team_ids
from teams.tenancy import team_scope

logger = logging.getLogger(__name__)

ACTOR = "task:extend_graphs"
BATCH = 500
# Approximate indexes of one size: each more costs the planner time, each less mixes more teams.
_GRAPHS = 16
# pgvector's limit for indexes of half precision vectors.
MOST_DIMENSIONS = 4_000
# So many fresh vectors are searched exactly in no time; moving fewer of them would not pay.
FRESH = 500

# As an array: a subquery with a limit may be run again for each row and move far more than a batch.
_MOVE = """
UPDATE memory_searchentry SET graph_dimensions = %(dimensions)s, graph_number = %(number)s
WHERE team_id = %(team)s AND memory_id = ANY (ARRAY(
    SELECT memory_id FROM memory_searchentry
    WHERE team_id = %(team)s AND graph_dimensions = 0 AND place = 0
        AND embedding_model = %(model)s
    LIMIT %(batch)s FOR UPDATE SKIP LOCKED
))
"""


def extend_vector_graphs(
    *,
    seconds: float = float("inf"),
    fresh: int = FRESH,
    on_progress: Callable[[int], object] = lambda _: None,
) -> int:
    """Moves the vectors of large teams into the approximate index; returns how many.

    A team is large from EXACT_SEARCH_LIMIT searchable memories on. Up to `fresh` of a team's
    latest vectors stay outside. It stops after `seconds`, and the next call continues; a call
    beside a running one skips the teams that the other works on.
    """
    state = EmbeddingState.objects.first()
    if state is None or state.next_model or state.dimensions > MOST_DIMENSIONS:
        return 0
    until = time.monotonic() + seconds
    teams = list(all_team_ids())
    random.shuffle(teams)  # so that the time does not always run out for the same one
    moved = 0
    for team_id in teams:
        if time.monotonic() >= until:
            break
        if not _has_graph(team_id=team_id, state=state):
            continue
        while time.monotonic() < until:
            count = _move_some(team_id=team_id, state=state, fresh=fresh)
            moved += count
            on_progress(count)
            if count < BATCH:
                break
    if moved:
        forget_graphs()
    return moved


def waiting_vectors() -> int:
    """Returns how many vectors of large teams stand outside the approximate index."""
    state = EmbeddingState.objects.first()
    if state is None:
        return 0
    waiting = 0
    for team_id in all_team_ids():
        with team_scope(team_ids=[team_id], actor=ACTOR):
            if _is_large(team_id):
                waiting += _outside(team_id).filter(embedding_model=state.model).count()
    return waiting


def _has_graph(*, team_id: UUID, state: EmbeddingState) -> bool:
    """Returns whether the team's vectors of the active model have an index, made now if due.

    In a transaction of its own: making one blocks writers of every team until it ends.
    """
    try:
        with team_scope(team_ids=[team_id], actor=ACTOR):
            graph = SearchGraph.objects.filter(team_id=team_id).first()
            if graph is not None and graph.model == state.model:
                return True
            if graph is None and not _is_large(team_id):
                return False
            # Vectors that a re-embedding has not replaced yet stand in an older graph.
            rows = SearchEntry.objects.filter(~Q(embedding_model=state.model), team_id=team_id)
            if rows.exclude(graph_dimensions=0).exists():
                return False
            number = _number(team_id)
            with connection.cursor() as cursor:
                cursor.execute("SELECT palimpsest_ensure_graph(%s, %s)", [state.dimensions, number])
            SearchGraph.objects.update_or_create(
                team_id=team_id,
                defaults={"model": state.model, "dimensions": state.dimensions, "number": number},
            )
            return True
    except OperationalError as error:
        if not isinstance(error.__cause__, psycopg.errors.LockNotAvailable):
            raise
        logger.info("The index of vectors waits for a quieter moment.")
        return False


def _move_some(*, team_id: UUID, state: EmbeddingState, fresh: int) -> int:
    with team_scope(team_ids=[team_id], actor=ACTOR), connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_try_advisory_xact_lock(hashtextextended(%s, 0))", [f"extend-graph|{team_id}"]
        )
        if cursor.fetchone() != (True,) or _outside(team_id)[: fresh + 1].count() <= fresh:
            return 0
        parameters: dict[str, Any] = {  # Any: numbers, an id and a name
            "dimensions": state.dimensions,
            "number": _number(team_id),
            "team": team_id,
            "model": state.model,
            "batch": BATCH,
        }
        cursor.execute(_MOVE, parameters)
        return int(cursor.rowcount)


def _number(team_id: UUID) -> int:
    """Returns the number of the team's graph, constant and spread evenly over the teams."""
    return int.from_bytes(hashlib.sha256(team_id.bytes).digest()[:2], "big") % _GRAPHS


def _is_large(team_id: UUID) -> bool:
    most = settings.EXACT_SEARCH_LIMIT
    found = SearchEntry.objects.filter(team_id=team_id, place=Place.FOUND)
    return found[: most + 1].count() > most


def _outside(team_id: UUID) -> QuerySet[SearchEntry, SearchEntry]:
    return SearchEntry.objects.filter(team_id=team_id, place=Place.FOUND, graph_dimensions=0)


# -- statistics of the planner ---------------------------------------------------------------

# As in `memory/sql/renew_statistics.sql`.
_TABLES = (
    "memory_memory",
    "memory_searchentry",
    "memory_messageentry",
    "memory_memoryusage",
    "memory_memoryrelation",
    "teams_message",
    "teams_enduser",
    "teams_conversation",
    "audit_logcommit",
)
# PostgreSQL's own daemon notices smaller growth in time.
WORTH_IT = 1_000
_SHARE = 0.5


def renew_statistics(*, least_changed: int = 0, least_share: float = 0.0) -> list[str]:
    """Analyses the tables that grow; returns the analysed ones.

    Only tables of which at least so many rows, and such a share, changed since the last time. Each
    in a transaction of its own, as a large one takes seconds.
    """
    analysed = []
    for table in _TABLES:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT palimpsest_renew_statistics(%s, %s, %s)",
                [table, least_changed, least_share],
            )
            if cursor.fetchone() == (True,):
                analysed.append(table)
    return analysed


def renew_outdated_statistics() -> list[str]:
    """Analyses the tables that have grown much since."""
    return renew_statistics(least_changed=WORTH_IT, least_share=_SHARE)
