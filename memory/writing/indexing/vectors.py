"""Vectors of memories stored in bulk, and shorter versions of long ones, written by workers."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from uuid import UUID

from django.db import connection
from django.db.models import Q, QuerySet
from pgvector import HalfVector

from memory.domain.levels import LongText, WrittenLevels
from memory.domain.types import Asker
from memory.models import Memory, MemoryLevels
from memory.understanding.tools import Tools
from memory.writing.background import only_worker
from teams.prepared import run_prepared
from teams.services.people import all_team_ids
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


LEVELS_ACTOR = "task:write_levels"
LEVELS_BATCH = 50
# No memory's id comes before it.
_FIRST = UUID(int=0)


def write_waiting_levels(*, tools: Tools, seconds: float) -> int:
    """Write the levels that wait in all teams, until `seconds` are over; returns how many."""
    done, ends_at = 0, time.monotonic() + seconds
    for team_id in all_team_ids():
        done += write_levels(team_id=team_id, tools=tools, ends_at=ends_at)
    return done


def write_levels(
    *,
    team_id: UUID,
    tools: Tools,
    ends_at: float | None = None,
    is_rebuilt: bool = False,
    on_progress: Callable[[int], object] = lambda _: None,
) -> int:
    """Write what waits of a team, oldest first; returns how many memories.

    With `is_rebuilt` also what another model or other rules wrote, or what has no vector of the
    present embedder. It may be stopped at any time, by `ends_at` of the monotonic clock too, and
    run twice at once. Raises UnavailableError when the embedder does not answer.
    """
    done, after = 0, _FIRST
    while ends_at is None or time.monotonic() < ends_at:
        with team_scope(team_ids=[team_id], actor=LEVELS_ACTOR):
            rows = list(
                levels_to_write(team_id=team_id, tools=tools, is_rebuilt=is_rebuilt)
                .filter(memory_id__gt=after)
                .select_related("memory")
                .order_by("memory_id")[:LEVELS_BATCH]
            )
        if not rows:
            break
        written = [tools.levels.write(_text_of(row)) for row in rows]
        vectors = tools.embedder.embed([each.levels.summary for each in written])
        stored = [HalfVector(vector) for vector in vectors]
        with team_scope(team_ids=[team_id], actor=LEVELS_ACTOR, reason="shorter versions"):
            for row, each, vector in zip(rows, written, stored, strict=True):
                _store(row, each, vector, tools.embedder.name)
        done, after = done + len(rows), rows[-1].memory_id
        on_progress(len(rows))
    return done


def levels_to_write(
    *, team_id: UUID, tools: Tools, is_rebuilt: bool
) -> QuerySet[MemoryLevels, MemoryLevels]:
    """The rows that wait; with `is_rebuilt` those too that another writer or embedder made."""
    rows = MemoryLevels.objects.filter(team_id=team_id)
    if not is_rebuilt:
        return rows.filter(writer="")
    return rows.filter(~Q(writer=tools.levels.name) | ~Q(embedding_model=tools.embedder.name))


def _text_of(row: MemoryLevels) -> LongText:
    memory = row.memory
    return LongText(
        content=memory.content,
        asker=Asker(memory.team_id, memory.agent_id, memory.end_user_id),
        form=memory.form,
        payload=memory.payload if memory.form else {},
    )


def _store(row: MemoryLevels, written: WrittenLevels, vector: HalfVector, model: str) -> None:
    """Whoever comes second, or after the memory's erasure, changes nothing."""
    MemoryLevels.objects.filter(
        team_id=row.team_id, memory_id=row.memory_id, writer=row.writer
    ).update(
        summary=written.levels.summary,
        compressed=written.levels.compressed,
        index_term=written.levels.index_term,
        writer=written.writer,
        embedding=vector,
        embedding_model=model,
    )
