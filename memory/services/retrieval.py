"""The one read path: who asks → what they may see → signals → score → budget → prompt."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from memory.clients.tools import Tools
from memory.domain import rendering
from memory.domain.packing import Item, pack
from memory.domain.rendering import Line, Opposite
from memory.domain.scoring import (
    SAME_CONVERSATION,
    Signals,
    Weights,
    final_score,
    importance_signal,
    recency,
    relevance,
    weighted_mean,
)
from memory.domain.text import query_terms
from memory.domain.types import MemoryType
from memory.domain.viewer import Viewer
from memory.models import Contradiction, Memory
from memory.models.querysets import MemoryQuerySet
from memory.selectors.contradictions import open_contradictions_among
from memory.selectors.signals import SignalRow, memories_by_id, signals_for
from memory.services.clashes import clashes_within
from memory.services.usage import note_retrieved
from teams.errors import UnavailableError
from teams.tenancy import team_scope

logger = logging.getLogger(__name__)

# A search asks what is said about something: relevance decides, the rest breaks ties.
SEARCH_WEIGHTS = Weights(semantic=0.9, recency=0.02, importance=0.05, continuity=0.0, relation=0.03)


# No rendered memory takes fewer tokens, so a budget holds no more than so many of them.
SHORTEST_LINE = 4


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate that is not loaded yet, with its score 0-1 and its signals."""

    row: SignalRow
    score: float
    signals: Signals

    @property
    def is_mandatory(self) -> bool:
        """Whether every prompt of its audience holds it."""
        return self.row.is_pinned or self.row.memory_type == MemoryType.IDENTITY


@dataclass(frozen=True, slots=True)
class ScoredMemory:
    """A memory with its score 0-1, the signals behind it, and its rendered size in tokens."""

    memory: Memory
    score: float
    signals: Signals
    tokens: int = 0


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


@dataclass(frozen=True, slots=True)
class Retrieval:
    """Memories within the budget, best first, and the prompt made of them."""

    memories: list[ScoredMemory]
    formatted_prompt: str
    stats: RetrievalStats
    contradictions: list[Contradiction]


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked; `conversation_id` is where, for continuity."""

    text: str
    conversation_id: UUID | None = None


def search(
    *,
    viewer: Viewer,
    rows: MemoryQuerySet,
    question: Question,
    limit: int,
    tools: Tools,
    now: datetime,
) -> list[ScoredMemory]:
    """The `limit` memories among `rows` that say most about the question, best first.

    `rows` are narrowed by the caller's filters; what the viewer may see is enforced here.
    """
    vector = _meaning(question, tools)
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        found = _candidates(
            viewer=viewer,
            rows=rows,
            question=question,
            vector=vector,
            embedding_model=tools.embedder.name,
        )
        ranked = sorted(
            (
                # A search ranks by what was asked: a pinned memory has no claim to every result.
                Ranked(row, weighted_mean(signals, weights=SEARCH_WEIGHTS), signals)
                for row, signals in ((row, _signals(row, now)) for row in found)
                if signals.semantic > 0
            ),
            key=_best_first,
        )
        best = _load(viewer, ranked[:limit])
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
) -> Retrieval:
    """What the viewer's agent should know for this question, as a prompt within the budget."""
    started = time.perf_counter()
    rows = Memory.objects.searchable(include_cold=include_cold)
    vector = _meaning(question, tools)
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        found = _candidates(
            viewer=viewer,
            rows=rows,
            question=question,
            vector=vector,
            embedding_model=tools.embedder.name,
        )
        ranked = _ranked(found, weights=weights, now=now)
        searched = time.perf_counter()
        scored = _load(viewer, _worth_loading(ranked, token_budget=token_budget))
        memories = [each.memory for each in scored]
        clashes = clashes_within(memories=[row for row in memories if row.is_live], tools=tools)
        opposites = _opposites(viewer, memories, clashes)
        lines = {row.pk: _line(row, opposites.get(row.pk, ())) for row in memories}
        rendered = {key: line.render() for key, line in lines.items()}
        packed = pack(
            [
                Item(
                    value=each,
                    section=lines[each.memory.pk].section,
                    tokens=rendering.line_tokens(rendered[each.memory.pk]),
                    score=each.score,
                    memory_type=each.memory.memory_type,
                    is_pinned=each.memory.is_pinned,
                )
                for each in scored
            ],
            token_budget=token_budget,
            section_tokens=rendering.section_tokens,
            limit=limit,
        )
        chosen = [
            ScoredMemory(item.value.memory, item.value.score, item.value.signals, item.tokens)
            for item in packed.items
        ]
        shown = {each.memory.pk for each in chosen}
        contradictions = open_contradictions_among(viewer=viewer, memory_ids=list(shown))
        contradictions += [
            each for each in clashes if {each.memory_a_id, each.memory_b_id} <= shown
        ]
    prompt = rendering.render(
        (item.section, rendered[item.value.memory.pk]) for item in packed.items
    )
    note_retrieved(team_id=viewer.team_id, memory_ids=[each.memory.pk for each in chosen], now=now)
    ended = time.perf_counter()
    return Retrieval(
        memories=chosen,
        formatted_prompt=prompt,
        contradictions=contradictions,
        stats=RetrievalStats(
            tokens_used=packed.tokens_used,
            token_budget=token_budget,
            signals_hit=_signals_hit(chosen),
            cache_hit=False,
            total_ms=_milliseconds(started, ended),
            steps_ms={
                "search": _milliseconds(started, searched),
                "pack": _milliseconds(searched, ended),
            },
            warnings=packed.warnings,
        ),
    )


def _meaning(question: Question, tools: Tools) -> NDArray[np.float32]:
    """The question's vector; nothing but zeros, so that words decide alone, without an embedder."""
    try:
        vectors = tools.embedder.embed([question.text])
    except UnavailableError:
        logger.warning("A question was answered by words alone: the embedder is away.")
        vectors = np.zeros((1, 1), dtype=np.float32)
    vector: NDArray[np.float32] = vectors[0]
    return vector


def _candidates(
    *,
    viewer: Viewer,
    rows: MemoryQuerySet,
    question: Question,
    vector: NDArray[np.float32],
    embedding_model: str,
) -> list[SignalRow]:
    return signals_for(
        rows=rows.visible_to(viewer),
        team_id=viewer.team_id,
        vector=vector,
        embedding_model=embedding_model,
        words=query_terms(question.text),
        conversation_id=question.conversation_id,
    )


def _ranked(found: Sequence[SignalRow], *, weights: Weights, now: datetime) -> list[Ranked]:
    """The candidates with their scores under the agent's weights and the policies, best first."""
    ranked = []
    for row in found:
        signals = _signals(row, now)
        score = final_score(
            signals,
            weights=weights,
            memory_type=row.memory_type,
            is_pinned=row.is_pinned,
            status=row.status,
        )
        ranked.append(Ranked(row, score, signals))
    return sorted(ranked, key=_best_first)


def _worth_loading(ranked: Sequence[Ranked], *, token_budget: int) -> list[Ranked]:
    """What may reach the prompt: the mandatory ones and as many others as could fit at most."""
    room = token_budget // SHORTEST_LINE
    mandatory = [each for each in ranked if each.is_mandatory]
    others = [each for each in ranked if not each.is_mandatory]
    return sorted([*mandatory, *others[:room]], key=_best_first)


def _load(viewer: Viewer, ranked: Sequence[Ranked]) -> list[ScoredMemory]:
    memories = memories_by_id(team_id=viewer.team_id, ids=[each.row.memory_id for each in ranked])
    return [
        ScoredMemory(memories[each.row.memory_id], each.score, each.signals)
        for each in ranked
        if each.row.memory_id in memories
    ]


def _signals(row: SignalRow, now: datetime) -> Signals:
    cosine = max(0.0, row.cosine or 0.0)
    lexical = row.lexical or 0.0
    return Signals(
        semantic=relevance(cosine=cosine, lexical=lexical),
        recency=recency((now - row.accessed_at).total_seconds() / 3600),
        importance=importance_signal(importance=row.importance, is_pinned=row.is_pinned),
        continuity=SAME_CONVERSATION if row.same_conversation else 0.0,
        relation=row.relation or 0.0,
        cosine=cosine,
        lexical=lexical,
    )


def _best_first(item: Ranked) -> tuple[float, UUID]:
    return (-item.score, item.row.memory_id)


def _opposites(
    viewer: Viewer, memories: Sequence[Memory], clashes: Sequence[Contradiction]
) -> dict[UUID, tuple[Opposite, ...]]:
    """The texts that each memory contradicts, as far as the viewer may see them."""
    wanted = {other for memory in memories for other in memory.contradicts}
    rows = Memory.objects.visible_to(viewer).filter(id__in=wanted) if wanted else ()
    texts = {row.pk: Opposite(row.content, row.created_at) for row in rows}
    found = {
        memory.pk: tuple(texts[other] for other in memory.contradicts if other in texts)
        for memory in memories
    }
    for clash in clashes:
        one, other = clash.memory_a, clash.memory_b
        if other is not None:
            found[one.pk] += (Opposite(other.content, other.created_at),)
            found[other.pk] += (Opposite(one.content, one.created_at),)
    return found


def _line(memory: Memory, opposites: tuple[Opposite, ...]) -> Line:
    usage = getattr(memory, "usage", None)
    return Line(
        content=memory.content,
        memory_type=MemoryType(memory.memory_type),
        importance=memory.importance,
        confidence=memory.confidence,
        at=memory.valid_from or memory.created_at,
        status=memory.status,
        category=memory.category,
        subject=memory.subject,
        succeeded=usage.succeeded if usage else 0,
        failed=usage.failed if usage else 0,
        opposites=opposites,
    )


def _signals_hit(chosen: Sequence[ScoredMemory]) -> dict[str, int]:
    names = ("semantic", "recency", "importance", "continuity", "relation")
    return {name: sum(getattr(each.signals, name) > 0.01 for each in chosen) for name in names}


def _milliseconds(start: float, end: float) -> float:
    return round((end - start) * 1000, 3)
