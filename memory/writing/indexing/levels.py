"""Writing the shorter versions of long memories, in batches and outside of transactions."""

from __future__ import annotations

import time
from collections.abc import Callable
from uuid import UUID

from django.db.models import Q, QuerySet
from pgvector import HalfVector

from memory.domain.levels import LongText, WrittenLevels
from memory.domain.types import Asker
from memory.models import MemoryLevels
from memory.understanding.tools import Tools
from teams.services.people import all_team_ids
from teams.tenancy import team_scope

ACTOR = "task:write_levels"
BATCH = 50
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
        with team_scope(team_ids=[team_id], actor=ACTOR):
            rows = list(
                levels_to_write(team_id=team_id, tools=tools, is_rebuilt=is_rebuilt)
                .filter(memory_id__gt=after)
                .select_related("memory")
                .order_by("memory_id")[:BATCH]
            )
        if not rows:
            break
        written = [tools.levels.write(_text_of(row)) for row in rows]
        vectors = tools.embedder.embed([each.levels.summary for each in written])
        stored = [HalfVector(vector) for vector in vectors]
        with team_scope(team_ids=[team_id], actor=ACTOR, reason="shorter versions"):
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
