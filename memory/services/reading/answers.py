"""What a read answers with: what was found, the prompt made of it, and what it took."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from memory.domain.tokens import ESTIMATE
from memory.models import Contradiction
from memory.services.reading.cascade import Level
from memory.services.reading.recall import ScoredMemory
from memory.services.reading.scored_messages import ScoredMessage


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
    """What was found, each kind best first, and the levels that were searched.

    Without `has_vector` the embedder was away and words decided alone.
    """

    memories: Sequence[ScoredMemory]
    messages: Sequence[ScoredMessage]
    searched: tuple[Level, ...]
    has_vector: bool = True
    warnings: tuple[str, ...] = ()

    @property
    def results(self) -> list[ScoredMemory | ScoredMessage]:
        """All of it, best first."""
        return sorted([*self.memories, *self.messages], key=lambda each: -each.score)
