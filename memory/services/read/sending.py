"""A retrieval as it is sent: as it was kept, or made with what was predicted for its reader."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from memory.domain.viewer import Viewer
from memory.models.querysets import MemoryQuerySet
from memory.selectors.revisions import Revision
from memory.services.read.answer_cache import Made, Sent, answer_key, answered
from memory.services.read.answers import Retrieval
from memory.services.read.predictions import prefetch_key, read_prefetch
from memory.services.read.prompt_packing import Packing
from memory.services.read.ranking import Question
from memory.services.read.retrieval import retrieve
from memory.services.read.search import Depth
from memory.understanding.tools import Tools

# From this chance on a predicted memory is told whatever words the question has.
_LIKELY = 0.5


def send_retrieval(
    *,
    viewer: Viewer,
    question: Question,
    limit: int | None,
    depth: Depth,
    write: Callable[[Retrieval], bytes],
    form: str,
    tools: Tools,
    now: datetime,
    packing: Packing | None = None,
    rows: MemoryQuerySet | None = None,
    min_score: float | None = None,
    revision: Revision | None = None,
) -> Sent:
    """As `retrieve`, written by `write`: what was written before is not made or written again.

    A prompt finds what was predicted for the viewer: all of it is a candidate, and what is likelier
    than not to be needed is told however little it says about the question. `form` is that of
    `answer_key`. What a filter narrows, `rows`, is not kept.
    """
    key = None
    if rows is None:
        parts = {
            "question": question,
            "limit": limit,
            "depth": depth,
            "min_score": min_score,
            "packing": packing and [packing.weights, packing.token_budget, packing.counter.name],
        }
        key = answer_key(form=form, viewer=viewer, tools=tools, now=now, parts=parts)

    def make(kept: bytes | None) -> Made:
        predicted = {each.memory_id: each.confidence for each in read_prefetch(kept)}
        likely = {pk for pk, chance in predicted.items() if chance >= _LIKELY}
        found = retrieve(
            viewer=viewer,
            question=question,
            limit=limit,
            depth=depth,
            packing=packing and replace(packing, keeps=lambda row: row.memory_id in likely),
            rows=rows,
            min_score=min_score,
            tools=tools,
            now=now,
            revision=revision,
            prefetched=predicted,
        )
        return Made(
            body=write(found),
            memory_ids=[each.row.memory_id for each in found.told],
            found=len(found.told) if packing else len(found.results),
            similarity=found.similarity,
            revision=found.revision,
            read_messages=found.read_messages,
            stats=found.stats,
        )

    return answered(
        key,
        viewer=viewer,
        now=now,
        make=make,
        revision=revision,
        beside=prefetch_key(viewer) if packing is not None else None,
    )
