"""Which memories the work in progress will need, before it asks."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import cast
from uuid import UUID

import numpy as np
import orjson

from memory.clients.afterwards import afterwards
from memory.domain.audience import Viewer
from memory.domain.retrieval.question import read_question
from memory.domain.work import Signals
from memory.reading.ranking import SEARCH_WEIGHTS, ReadQuestion, by_relevance
from memory.reading.search import Depth, Search
from memory.reading.sources import PREFETCH_SECONDS, Predicted, prefetch_key
from memory.satellites.plans.prediction.ownership import file_name, likely_needed
from memory.satellites.plans.selectors.file_touches import file_touches
from memory.satellites.plans.signal_uses import learned
from memory.understanding.tools import Tools
from teams.tenancy import team_scope

# Words in common with a signal are weaker than lines of an open file.
_OF_WORDS = 0.5
# A signal proposes so many by its words.
_MOST_BY_WORDS = 20
_MOST_WORDS_CHARS = 2_000


def predict(
    *,
    viewer: Viewer,
    signals: Signals,
    tools: Tools,
    now: datetime,
    limit: int = 20,
    is_kept: bool = True,
) -> tuple[Predicted, ...]:
    """The live memories that the signals speak for among what the viewer may see, likeliest first.

    At most `limit`; what nothing speaks for is left out. Call it in the team's scope or outside of
    any transaction. Unless `is_kept` is false, what is predicted is kept in Redis for the viewer's
    next reads, in place of what was.
    """
    found: dict[UUID, Predicted] = {}
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor, is_planned_once=True):
        proposed = _by_files(viewer, signals) if signals.files else []
        of_use = learned(viewer=viewer, signals=signals, now=now)
        proposed += [Predicted(pk, *said) for pk, said in of_use.items()]
        for reason, text in _texts(signals):
            proposed += _by_words(viewer, reason, text, tools, now)
    for each in proposed:
        known = found.get(each.memory_id)
        found[each.memory_id] = _both(known, each) if known else each
    ranked = sorted(found.values(), key=lambda each: -each.confidence)[:limit]
    if is_kept:
        _keep(viewer, ranked)
    return tuple(ranked)


def _by_files(viewer: Viewer, signals: Signals) -> list[Predicted]:
    opened = signals.files
    touches = file_touches(viewer=viewer, names=sorted({file_name(each) for each in opened}))
    ranked = likely_needed(opened=opened, touches=touches.named, recent=touches.latest)
    return [
        Predicted(
            cast(UUID, each.key),
            each.chance,
            (f"changed {each.path}" if each.is_of_file else "among the latest changes",),
        )
        for each in ranked
    ]


def _texts(signals: Signals) -> list[tuple[str, str]]:
    """The signals that are read as words, each with what is said of it; where there are any."""
    said = [
        ("words of the branch", signals.branch.replace("/", " ").replace("-", " ")),
        *(("words of the error", each) for each in signals.recent_errors),
        ("words of the activity", signals.activity),
        ("names the collaborator", signals.collaborator),
        ("words of the query", signals.query),
    ]
    return [(reason, text[:_MOST_WORDS_CHARS]) for reason, text in said if text.strip()]


def _by_words(
    viewer: Viewer, reason: str, text: str, tools: Tools, now: datetime
) -> list[Predicted]:
    """By the words alone: nothing is embedded while somebody types."""
    question = ReadQuestion(
        read_question(text, now=now), np.zeros(1, dtype=np.float32), tools.embedder.name, None
    )
    found = Search(
        viewer=viewer,
        question=question,
        score=by_relevance(SEARCH_WEIGHTS),
        depth=Depth(include_cold=False, include_raw=False),
        tools=tools,
        now=now,
    ).run()
    best = sorted(found.memories, key=lambda each: -each.rank)[:_MOST_BY_WORDS]
    return [
        Predicted(each.row.memory_id, _OF_WORDS * each.signals.semantic, (reason,))
        for each in best
        if each.signals.semantic > 0
    ]


def _both(one: Predicted, other: Predicted) -> Predicted:
    """One memory that two signals speak for, each on its own."""
    confidence = 1 - (1 - one.confidence) * (1 - other.confidence)
    reasons = tuple(dict.fromkeys((*one.reasons, *other.reasons)))
    return replace(one, confidence=confidence, reasons=reasons)


def _keep(viewer: Viewer, ranked: list[Predicted]) -> None:
    value = orjson.dumps([[each.memory_id, each.confidence, each.reasons] for each in ranked])
    key = prefetch_key(viewer)
    afterwards(lambda pipe: pipe.set(key, value, ex=PREFETCH_SECONDS))
