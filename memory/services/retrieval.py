"""The one read path: who asks → what they may see → signals → score → budget → prompt."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from memory.clients.tools import Tools
from memory.domain.plans.retrieval import RETRIEVAL
from memory.domain.scoring import Weights
from memory.domain.tokens import ESTIMATE, TokenCounter
from memory.domain.viewer import Viewer
from memory.models import Contradiction
from memory.models.querysets import MemoryQuerySet
from memory.selectors.revisions import team_revision
from memory.services.cascade import (
    Depth,
    Level,
    ScoredMessage,
    descend,
    load_messages,
)
from memory.services.hot_answers import held_answer, hot_key, keep_answer
from memory.services.ranking import Question, by_relevance, read
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
    searched: tuple[Level, ...] = ()

    def again(self, *, total_ms: float) -> RetrievalStats:
        """Those of the same answer when it was kept."""
        return replace(self, cache_hit=True, total_ms=total_ms, steps_ms={"cache": total_ms})


@dataclass(frozen=True, slots=True)
class Retrieval:
    """Memories and messages within the budget, best first, and the prompt made of them."""

    memories: Sequence[ScoredMemory]
    messages: Sequence[ScoredMessage]
    formatted_prompt: str
    stats: RetrievalStats
    contradictions: Sequence[Contradiction]


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """What was found, each kind best first, and the levels that were searched."""

    memories: Sequence[ScoredMemory]
    messages: Sequence[ScoredMessage]
    searched: tuple[Level, ...]

    @property
    def results(self) -> list[ScoredMemory | ScoredMessage]:
        """All of it, best first."""
        return sorted([*self.memories, *self.messages], key=lambda each: -each.score)


def search(
    *,
    viewer: Viewer,
    question: Question,
    limit: int,
    tools: Tools,
    now: datetime,
    rows: MemoryQuerySet | None = None,
    include_cold: bool = False,
) -> Sequence[ScoredMemory]:
    """The `limit` memories that say most about the question, best first.

    Among `rows`, narrowed by the caller's filters, or among all that are found by default, with
    `include_cold` in the archive too. What the viewer may see is enforced here.
    """
    return search_levels(
        viewer=viewer,
        question=question,
        limit=limit,
        depth=Depth(include_cold, include_raw=False),
        tools=tools,
        now=now,
        rows=rows,
    ).memories


def search_levels(
    *,
    viewer: Viewer,
    question: Question,
    limit: int,
    depth: Depth,
    tools: Tools,
    now: datetime,
    rows: MemoryQuerySet | None = None,
) -> SearchAnswer:
    """The `limit` memories and messages that say most about the question, as deep as asked for."""
    key = None
    if rows is None:
        parts = {"question": question, "limit": limit, "depth": depth}
        key = hot_key(kind="search", viewer=viewer, tools=tools, now=now, parts=parts)
    held = held_answer(key, SearchAnswer)
    if held is not None:
        note_retrieved(team_id=viewer.team_id, memory_ids=held.memory_ids, now=now)
        return held.answer
    asked = read(question, tools=tools, now=now)
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        revision = team_revision(team_id=viewer.team_id)
        reached = descend(
            viewer=viewer,
            question=asked,
            score=by_relevance,
            depth=depth,
            now=now,
            rows=rows,
            revision=revision,
        )
        ranked = [each for each in reached.memories if each.table.semantic[each.place] > 0]
        said = [each for each in reached.messages if each.table.semantic[each.place] > 0]
        messages = load_messages(question=asked, ranked=said, most=limit)
        scores = [*(each.score for each in ranked), *(each.score for each in messages)]
        scores = sorted(scores, reverse=True)[:limit]
        room = sum(each.score >= scores[-1] for each in ranked) if scores else 0
        memories = load_chosen(viewer=viewer, ranked=ranked[: min(room, limit)], revision=revision)
    best = SearchAnswer(memories, messages[: limit - len(memories)], reached.searched)
    if asked.has_vector:
        keep_answer(
            key, answer=best, revision=revision, read_messages=Level.RAW in reached.searched
        )
    _note(viewer, best.memories, now)
    return best


def retrieve(
    *,
    viewer: Viewer,
    question: Question,
    weights: Weights,
    token_budget: int,
    limit: int | None,
    tools: Tools,
    now: datetime,
    include_cold: bool | None = None,
    include_raw: bool | None = None,
    counter: TokenCounter = ESTIMATE,
) -> Retrieval:
    """What the viewer's agent should know for this question, as a prompt within the budget.

    `include_cold` and `include_raw` are those of `cascade.Depth`.
    """
    started = time.perf_counter()
    parts = {
        "question": question,
        "weights": weights,
        "token_budget": token_budget,
        "limit": limit,
        "include_cold": include_cold,
        "include_raw": include_raw,
        "counter": counter.name,
    }
    key = hot_key(kind="retrieve", viewer=viewer, tools=tools, now=now, parts=parts)
    held = held_answer(key, Retrieval)
    if held is not None:
        note_retrieved(team_id=viewer.team_id, memory_ids=held.memory_ids, now=now)
        kept = held.answer
        return replace(kept, stats=kept.stats.again(total_ms=_milliseconds(started)))
    asked = read(question, tools=tools, now=now)
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        revision = team_revision(team_id=viewer.team_id)
        recalled = recall(
            viewer=viewer,
            question=asked,
            weights=weights,
            token_budget=token_budget,
            depth=Depth(include_cold, include_raw),
            tools=tools,
            now=now,
            revision=revision,
        )
        searched = time.perf_counter()
        assembly = recalled.assembled(
            plan=RETRIEVAL,
            texts=recalled.quotes(section="rest"),
            token_budget=token_budget,
            counter=counter,
            limit=limit,
            best_first=True,
        )
        tokens = {each.entry.key: each.tokens for each in assembly.told}
        chosen = load_chosen(
            viewer=viewer, ranked=recalled.ranked, tokens=tokens, revision=revision
        )
        contradictions = contradictions_among(viewer=viewer, recalled=recalled, chosen=chosen)
    for warning in assembly.warnings:
        logger.warning("A prompt of team %s: %s.", viewer.team_id, warning)
    _note(viewer, chosen, now)
    ended = time.perf_counter()
    found = Retrieval(
        memories=chosen,
        messages=recalled.quoted(assembly.quoted),
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
            searched=recalled.searched,
        ),
    )
    if asked.has_vector:
        keep_answer(
            key,
            answer=found,
            revision=revision,
            read_messages=Level.RAW in recalled.searched,
        )
    return found


def _note(viewer: Viewer, found: Sequence[ScoredMemory], now: datetime) -> None:
    note_retrieved(team_id=viewer.team_id, memory_ids=[each.memory.pk for each in found], now=now)


def _milliseconds(start: float, end: float | None = None) -> float:
    return round(((end or time.perf_counter()) - start) * 1000, 3)
