"""The approximate index of vectors of large teams, and the statistics of the planner."""

from __future__ import annotations

import hashlib
import logging
import random
import time
from collections.abc import Callable
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
GRAPHS = 16
# pgvector indexes half precision vectors of no more dimensions.
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
    """Move the vectors of large teams into the approximate index; returns how many were moved.

    A team is large from EXACT_SEARCH_LIMIT found memories on. Up to `fresh` of a team's latest
    vectors stay outside. It stops after `seconds` and goes on where it stopped at the next call;
    a call beside a running one leaves the teams alone that the other is at.
    """
    state = EmbeddingState.objects.first()
    if state is None or state.next_model or state.dimensions > MOST_DIMENSIONS:
        return 0
    until = time.monotonic() + seconds
    teams = list(all_team_ids())
    random.shuffle(teams)  # so that none is always the one that the time does not suffice for
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
    """How many vectors of large teams stand outside the approximate index and could be inside."""
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
    """Whether the team's vectors of the active model have their index, made now where it is due.

    In a transaction of its own: making one keeps writers of every team waiting until it ends.
    """
    try:
        with team_scope(team_ids=[team_id], actor=ACTOR):
            graph = SearchGraph.objects.filter(team_id=team_id).first()
            if graph is not None and graph.model == state.model:
                return True
            if graph is None and not _is_large(team_id):
                return False
            if _still_of_another_model(team_id, state.model):
                return False
            with connection.cursor() as cursor:
                cursor.execute(
                    "SELECT palimpsest_ensure_graph(%s, %s)", [state.dimensions, _number(team_id)]
                )
            SearchGraph.objects.update_or_create(
                team_id=team_id,
                defaults={
                    "model": state.model,
                    "dimensions": state.dimensions,
                    "number": _number(team_id),
                },
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
        cursor.execute(
            _MOVE,
            {
                "dimensions": state.dimensions,
                "number": _number(team_id),
                "team": team_id,
                "model": state.model,
                "batch": BATCH,
            },
        )
        return int(cursor.rowcount)


def _number(team_id: UUID) -> int:
    """The number of the team's graph: the same for ever, and spread evenly over the teams."""
    return int.from_bytes(hashlib.sha256(team_id.bytes).digest()[:2], "big") % GRAPHS


def _is_large(team_id: UUID) -> bool:
    most = settings.EXACT_SEARCH_LIMIT
    found = SearchEntry.objects.filter(team_id=team_id, place=Place.FOUND)
    return found[: most + 1].count() > most


def _outside(team_id: UUID) -> QuerySet[SearchEntry, SearchEntry]:
    return SearchEntry.objects.filter(team_id=team_id, place=Place.FOUND, graph_dimensions=0)


def _still_of_another_model(team_id: UUID, model: str) -> bool:
    """Whether vectors that a re-embedding has not replaced yet stand in an older graph."""
    return SearchEntry.objects.filter(
        ~Q(embedding_model=model), ~Q(graph_dimensions=0), team_id=team_id
    ).exists()


# As `memory/sql/renew_statistics.sql` has them.
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
# So many new rows make no plan wrong, nor does a smaller share of what is there; PostgreSQL's own
# daemon looks at that within minutes.
WORTH_IT = 1_000
_SHARE = 0.5


def renew_statistics(*, least_changed: int = 0, least_share: float = 0.0) -> list[str]:
    """Have the planner look at the tables that grow; returns those that it looked at.

    Only at those of which at least so many rows, and such a share, were changed since the last
    time. Each in a transaction of its own, as looking at a large one takes seconds.
    """
    looked_at = []
    for table in _TABLES:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT palimpsest_renew_statistics(%s, %s, %s)",
                [table, least_changed, least_share],
            )
            if cursor.fetchone() == (True,):
                looked_at.append(table)
    return looked_at


def renew_outdated_statistics() -> list[str]:
    """`renew_statistics` of the tables that have grown much since."""
    return renew_statistics(least_changed=WORTH_IT, least_share=_SHARE)
