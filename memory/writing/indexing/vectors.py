"""Vectors of memories stored in bulk, and shorter versions of long ones, written by workers.

Pending work is a row: nothing is lost with the process that stored it or the worker that does it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from uuid import UUID

from django.db import connection
from django.db.models import Q, QuerySet
from pgvector import HalfVector

from memory.domain.levels import LongText
from memory.domain.types import Asker
from memory.models import Memory, MemoryLevels
from memory.understanding.embedders import embed_readable
from memory.understanding.tools import Tools
from memory.writing.background import exclusively, sum_over_teams
from teams.prepared import run_prepared
from teams.services.people import all_team_ids, frozen_team_ids
from teams.tenancy import team_scope

ACTOR = "task:embed_memories"
BATCH = 64

_PENDING = "SELECT * FROM palimpsest_pending_vectors()"
_NEXT = """
SELECT memory_id FROM memory_searchentry
WHERE team_id = $1 AND embedding_model = '' ORDER BY memory_id LIMIT $2
"""
# A second worker changes nothing: the entry has a vector by then.
_FILL = """
UPDATE memory_searchentry AS entry
SET embedding = given.vector::halfvec, embedding_model = $2,
    next_embedding = given.next_vector::halfvec, next_model = $3
FROM unnest($4::uuid[], $5::text[], $6::text[]) AS given (memory_id, vector, next_vector)
WHERE entry.team_id = $1 AND entry.memory_id = given.memory_id AND entry.embedding_model = ''
"""


def pending_counts() -> dict[UUID, int]:
    """Returns how many memories wait for their vectors, by team, in any scope."""
    with connection.cursor() as cursor:
        cursor.execute(_PENDING)
        return dict(cursor.fetchall())


def embed_pending(*, tools: Tools, seconds: float) -> int:
    """Embeds the pending memories of all teams for `seconds`; returns how many.

    A team that another worker embeds is left alone. It may be stopped at any time. Raises
    UnavailableError when the embedder does not answer; finished batches stay.
    """
    ends_at = time.monotonic() + seconds

    def embed(team_id: UUID) -> int:
        done = 0
        with exclusively(f"embed:{team_id}") as is_mine:
            while is_mine and time.monotonic() < ends_at:
                found = _embed_batch(team_id, tools)
                done += found
                if found < BATCH:
                    break
        return done

    return sum_over_teams(pending_counts().keys() - frozen_team_ids(), embed)


def _embed_batch(team_id: UUID, tools: Tools) -> int:
    with team_scope(team_ids=[team_id], actor=ACTOR, is_planned_once=True):
        ids = [pk for (pk,) in run_prepared(_NEXT, [team_id, BATCH])]
        rows = Memory.objects.filter(team_id=team_id, pk__in=ids)
        texts = dict(rows.values_list("pk", "content"))
    if not texts:
        return 0
    contents = list(texts.values())
    vectors = [HalfVector(vector).to_text() for vector in embed_readable(tools.embedder, contents)]
    model = tools.embedder.name
    next_model, following = tools.next_vectors(contents)
    next_vectors = [None if each is None else HalfVector(each).to_text() for each in following]
    with team_scope(team_ids=[team_id], actor=ACTOR, is_planned_once=True):
        run_prepared(_FILL, [team_id, model, next_model, list(texts), vectors, next_vectors])
    return len(texts)


# -- shorter versions ------------------------------------------------------------------------

LEVELS_ACTOR = "task:write_levels"
LEVELS_BATCH = 50


def write_waiting_levels(*, tools: Tools, seconds: float) -> int:
    """Writes the pending levels of all teams for `seconds`; returns how many."""
    ends_at = time.monotonic() + seconds
    return sum_over_teams(
        all_team_ids(),
        lambda team_id: write_levels(team_id=team_id, tools=tools, ends_at=ends_at),
    )


def write_levels(
    *,
    team_id: UUID,
    tools: Tools,
    ends_at: float | None = None,
    is_rebuilt: bool = False,
    on_progress: Callable[[int], object] = lambda _: None,
) -> int:
    """Writes the pending levels of a team, oldest first; returns how many memories.

    With `is_rebuilt` also those of another writer or embedder. It may be stopped at any time, by
    `ends_at` of the monotonic clock too, and run twice at once. Raises UnavailableError when the
    embedder does not answer.
    """
    done, after = 0, UUID(int=0)
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
        written = [tools.levels.write(_text_of(row.memory)) for row in rows]
        vectors = embed_readable(tools.embedder, [each.levels.summary for each in written])
        model = tools.embedder.name
        with team_scope(team_ids=[team_id], actor=LEVELS_ACTOR, reason="shorter versions"):
            for row, each, vector in zip(rows, written, vectors, strict=True):
                # A second writer, or one after the memory's erasure, changes nothing.
                MemoryLevels.objects.filter(
                    team_id=team_id, memory_id=row.memory_id, writer=row.writer
                ).update(
                    summary=each.levels.summary,
                    compressed=each.levels.compressed,
                    index_term=each.levels.index_term,
                    writer=each.writer,
                    embedding=HalfVector(vector),
                    embedding_model=model,
                )
        done, after = done + len(rows), rows[-1].memory_id
        on_progress(len(rows))
    return done


def levels_to_write(
    *, team_id: UUID, tools: Tools, is_rebuilt: bool
) -> QuerySet[MemoryLevels, MemoryLevels]:
    """Returns the pending rows; with `is_rebuilt` also those of another writer or embedder."""
    rows = MemoryLevels.objects.filter(team_id=team_id)
    if not is_rebuilt:
        return rows.filter(writer="")
    return rows.filter(~Q(writer=tools.levels.name) | ~Q(embedding_model=tools.embedder.name))


def _text_of(memory: Memory) -> LongText:
    return LongText(
        content=memory.content,
        asker=Asker(memory.team_id, memory.agent_id, memory.end_user_id),
        form=memory.form,
        payload=memory.payload if memory.form else {},
    )
