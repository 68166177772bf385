"""The one read path: who asks → what they may see → signals → score → budget → prompt."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, field
from datetime import datetime

from memory.clients.tools import Tools
from memory.domain.plans.assembly import assemble
from memory.domain.plans.retrieval import RETRIEVAL
from memory.domain.scoring import Weights
from memory.domain.tokens import ESTIMATE, TokenCounter
from memory.domain.viewer import Viewer
from memory.models import Contradiction
from memory.models.querysets import MemoryQuerySet
from memory.services.ranking import Question, by_relevance, narrowed, rank, read
from memory.services.recall import (
    ScoredMemory,
    contradictions_among,
    load_chosen,
    recall,
    signals_hit,
)
from memory.services.usage import note_retrieved
from teams.tenancy import team_scope

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RetrievalStats:
    """What a retrieval took; times are milliseconds."""

    tokens_used: int
    token_budget: int
    signals_hit: dict[str, int]
    cache_hit: bool
    total_ms: float
    steps_ms: dict[str, float] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    token_counter: str = ESTIMATE.name


@dataclass(frozen=True, slots=True)
class Retrieval:
    """Memories within the budget, best first, and the prompt made of them."""

    memories: list[ScoredMemory]
    formatted_prompt: str
    stats: RetrievalStats
    contradictions: list[Contradiction]


def search(
    *,
    viewer: Viewer,
    question: Question,
    limit: int,
    tools: Tools,
    now: datetime,
    rows: MemoryQuerySet | None = None,
    include_cold: bool = False,
) -> list[ScoredMemory]:
    """The `limit` memories that say most about the question, best first.

    Among `rows`, narrowed by the caller's filters, or among all that are found by default, with
    `include_cold` in the archive too. What the viewer may see is enforced here.
    """
    asked = read(question, tools=tools, now=now)
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        only = narrowed(viewer, rows) if rows is not None else None
        ranked = [
            each
            for each in rank(
                viewer=viewer,
                question=asked,
                score=by_relevance,
                now=now,
                only=only,
                with_cold=include_cold or rows is not None,
            )
            if each.table.semantic[each.place] > 0
        ]
        if rows is not None and only is None:
            ids = [each.row.memory_id for each in ranked]
            kept = set(rows.filter(id__in=ids).values_list("id", flat=True))
            ranked = [each for each in ranked if each.row.memory_id in kept]
        best = load_chosen(viewer=viewer, ranked=ranked[:limit])
    note_retrieved(team_id=viewer.team_id, memory_ids=[each.memory.pk for each in best], now=now)
    return best


def retrieve(
    *,
    viewer: Viewer,
    question: Question,
    weights: Weights,
    token_budget: int,
    limit: int | None,
    include_cold: bool,
    tools: Tools,
    now: datetime,
    counter: TokenCounter = ESTIMATE,
) -> Retrieval:
    """What the viewer's agent should know for this question, as a prompt within the budget."""
    started = time.perf_counter()
    asked = read(question, tools=tools, now=now)
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        recalled = recall(
            viewer=viewer,
            question=asked,
            weights=weights,
            token_budget=token_budget,
            include_cold=include_cold,
            tools=tools,
            now=now,
        )
        searched = time.perf_counter()
        assembly = assemble(
            plan=RETRIEVAL,
            entries=recalled.entries,
            token_budget=token_budget,
            counter=counter,
            limit=limit,
        )
        tokens = {each.entry.key: each.tokens for each in assembly.told}
        chosen = load_chosen(viewer=viewer, ranked=recalled.ranked, tokens=tokens)
        contradictions = contradictions_among(viewer=viewer, recalled=recalled, chosen=chosen)
    for warning in assembly.warnings:
        logger.warning("A prompt of team %s: %s.", viewer.team_id, warning)
    note_retrieved(team_id=viewer.team_id, memory_ids=[each.memory.pk for each in chosen], now=now)
    ended = time.perf_counter()
    return Retrieval(
        memories=chosen,
        formatted_prompt=assembly.prompt,
        contradictions=contradictions,
        stats=RetrievalStats(
            tokens_used=assembly.tokens_used,
            token_budget=token_budget,
            signals_hit=signals_hit(chosen),
            cache_hit=False,
            total_ms=_milliseconds(started, ended),
            steps_ms={
                "search": _milliseconds(started, searched),
                "pack": _milliseconds(searched, ended),
            },
            warnings=assembly.warnings,
            token_counter=counter.name,
        ),
    )


def _milliseconds(start: float, end: float) -> float:
    return round((end - start) * 1000, 3)
