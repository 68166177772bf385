"""Memories that were stored in bulk, embedded by workers in batches, outside any transaction.

What is to be done is a row, an entry without a vector: no bulk is lost with the process that stored
it or with the worker that embeds it.
"""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from uuid import UUID

from django.db import connection
from pgvector import HalfVector

from memory.models import Memory
from memory.understanding.tools import Tools
from memory.writing.indexing.single_worker import only_worker
from teams.prepared import run_prepared
from teams.tenancy import team_scope

ACTOR = "task:embed_memories"
BATCH = 64

_PENDING = "SELECT * FROM palimpsest_pending_vectors()"
_NEXT = """
SELECT memory_id FROM memory_searchentry
WHERE team_id = $1 AND embedding_model = '' ORDER BY memory_id LIMIT $2
"""
# Whoever comes second changes nothing: the entry has a vector by then.
_FILL = """
UPDATE memory_searchentry AS entry
SET embedding = given.vector::halfvec, embedding_model = $2,
    next_embedding = given.next_vector::halfvec, next_model = $3
FROM unnest($4::uuid[], $5::text[], $6::text[]) AS given (memory_id, vector, next_vector)
WHERE entry.team_id = $1 AND entry.memory_id = given.memory_id AND entry.embedding_model = ''
"""


def pending_counts() -> dict[UUID, int]:
    """How many memories wait for their vectors, by team, in any scope."""
    with connection.cursor() as cursor:
        cursor.execute(_PENDING)
        return dict(cursor.fetchall())


def embed_pending(*, tools: Tools, seconds: float) -> int:
    """Embed what waits in all teams until `seconds` are over; returns how many memories.

    A team that another worker is at is left alone. It may be stopped at any time. Raises
    UnavailableError when the embedder does not answer; what was embedded by then stays.
    """
    done, ends_at = 0, time.monotonic() + seconds
    teams = list(pending_counts())
    random.shuffle(teams)  # so that none is always the one that the time does not suffice for
    for team_id in teams:
        with only_worker(f"embed:{team_id}") as is_mine:
            while is_mine and time.monotonic() < ends_at:
                found = _embed_batch(team_id, tools)
                done += found
                if found < BATCH:
                    break
    return done


def _embed_batch(team_id: UUID, tools: Tools) -> int:
    with team_scope(team_ids=[team_id], actor=ACTOR, is_planned_once=True):
        ids = [pk for (pk,) in run_prepared(_NEXT, [team_id, BATCH])]
        rows = Memory.objects.filter(team_id=team_id, pk__in=ids)
        texts = dict(rows.values_list("pk", "content"))
    if not texts:
        return 0
    contents = list(texts.values())
    vectors = [HalfVector(vector).to_text() for vector in tools.embedder.embed(contents)]
    model = tools.embedder.name
    next_model, following = tools.next_vectors(contents)
    next_vectors = [None if each is None else HalfVector(each).to_text() for each in following]
    _fill(team_id, model, next_model, list(texts), vectors, next_vectors)
    return len(texts)


def _fill(
    team_id: UUID,
    model: str,
    next_model: str,
    ids: Sequence[UUID],
    vectors: Sequence[str],
    next_vectors: Sequence[str | None],
) -> None:
    with team_scope(team_ids=[team_id], actor=ACTOR, is_planned_once=True):
        run_prepared(_FILL, [team_id, model, next_model, ids, vectors, next_vectors])
