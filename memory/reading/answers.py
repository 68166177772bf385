"""Answers of the read path, with what they took."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

from memory.domain.audience import Viewer
from memory.domain.levels import Level as TextLevel
from memory.domain.packing import MINIMUM_BUDGET
from memory.domain.plans.assembly import Assembly
from memory.domain.rendering import ESTIMATE
from memory.domain.scoring import Signals, Weights
from memory.models import Contradiction, Memory
from memory.reading.messages import ScoredMessage
from memory.reading.questions import Level
from memory.reading.ranking import Ranked
from memory.reading.search import Candidates, level_of
from memory.selectors.memories import memories_by_id
from memory.selectors.revisions import Revision
from teams.domain.agent_document import RetrievalWeights
from teams.domain.documents import DocumentError
from teams.errors import InvalidError
from teams.models import Agent
from teams.tracing import step


@dataclass(frozen=True, slots=True)
class ScoredMemory:
    """A memory with its score 0-1, its signals, and the tokens of its line in a prompt.

    `text_level` says how much of its text that line has; `shorter` is the text of a shorter level,
    "" for the whole text.
    """

    memory: Memory
    score: float
    signals: Signals
    tokens: int = 0
    text_level: TextLevel = TextLevel.CONTENT
    shorter: str = ""

    @property
    def id(self) -> UUID:
        return self.memory.pk

    @property
    def level(self) -> Level:
        """The provenance of the memory."""
        return level_of(self.memory)


@dataclass(frozen=True, slots=True)
class RetrievalStats:
    """Costs and counts of a retrieval; times are milliseconds.

    `duplicates` counts memories left out because another one in the prompt says the same,
    `below_min_score` candidates that say too little about the question.
    """

    tokens_used: int = 0
    token_budget: int = 0
    signals_hit: dict[str, int] = field(default_factory=dict)
    cache_hit: bool = False
    total_ms: float = 0.0
    steps_ms: dict[str, float] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    token_counter: str = ESTIMATE.name
    searched: tuple[Level, ...] = ()
    duplicates: int = 0
    below_min_score: int = 0


@dataclass(frozen=True, slots=True)
class Considered:
    """Every candidate of a read, and those that are relevant enough."""

    found: Candidates
    relevant: Candidates

    @property
    def left_out(self) -> int:
        """The number of candidates that are not relevant enough."""
        found, kept = self.found, self.relevant
        memories = len(found.memories) - len(kept.memories)
        return memories + len(found.messages) - len(kept.messages)


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieval:
    """The results of a search, each kind best first.

    `told` are its memories before they were loaded. `revision` is the team's that it was made of,
    None if it may not be cached. `words` are those of the question that were searched for.
    """

    memories: Sequence[ScoredMemory]
    messages: Sequence[ScoredMessage]
    told: Sequence[Ranked]
    considered: Considered
    words: Sequence[str]
    revision: Revision | None = None
    stats: RetrievalStats = field(default_factory=RetrievalStats)

    @property
    def found(self) -> int:
        """The number of loaded memories."""
        return len(self.memories)

    @property
    def results(self) -> list[ScoredMemory | ScoredMessage]:
        """Memories and messages together, best first."""
        return sorted([*self.memories, *self.messages], key=lambda each: -each.score)

    @property
    def searched(self) -> tuple[Level, ...]:
        """The levels that were searched."""
        return self.stats.searched

    @property
    def read_messages(self) -> bool:
        """Returns whether the result depends on messages."""
        return Level.RAW in self.searched

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings for the caller."""
        return self.stats.warnings

    @property
    def similarity(self) -> float | None:
        """The best cosine among its memories."""
        cosines = (float(each.table.cosine[each.place]) for each in self.told)
        return max(cosines, default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt(Retrieval):
    """A prompt: `assembly` with the memories and messages in it, which may not be loaded.

    `contradictions` are those among its memories. `has_heard_names` says that it calls somebody by
    a name that messages alone give.
    """

    assembly: Assembly
    contradictions: Sequence[Contradiction]
    has_heard_names: bool

    @property
    def formatted_prompt(self) -> str:
        """The text of the prompt."""
        return self.assembly.prompt

    @property
    def read_messages(self) -> bool:
        """Returns whether the prompt depends on messages."""
        return self.has_heard_names or Level.RAW in self.searched


def milliseconds(start: float) -> float:
    """Returns the milliseconds since a moment of `time.perf_counter`."""
    return round((time.perf_counter() - start) * 1000, 3)


class Stopwatch:
    """Times steps that follow each other, from its creation on."""

    def __init__(self) -> None:
        self._started = self._last = time.perf_counter()
        self.steps_ms: dict[str, float] = {}

    def lap(self, step: str) -> None:
        """Ends the step that began with the last lap."""
        self.steps_ms[step] = milliseconds(self._last)
        self._last = time.perf_counter()

    @property
    def total_ms(self) -> float:
        """Milliseconds since its creation."""
        return milliseconds(self._started)


@step("retrieve.load")
def loaded(viewer: Viewer, ranked: Sequence[Ranked]) -> list[ScoredMemory]:
    """Loads the memories of ranked candidates, in their order; call it in the team's scope."""
    memories = memories_by_id(viewer=viewer, ids=[each.row.memory_id for each in ranked])
    return [
        ScoredMemory(memories[each.row.memory_id], each.score, each.signals)
        for each in ranked
        if each.row.memory_id in memories
    ]


_WARNING = "no user is named, so memories about people are left out; name a user or a conversation"


def nobody_named(viewer: Viewer) -> tuple[str, ...]:
    """Returns the warning of an answer for a viewer who names nobody, if so."""
    return (_WARNING,) if viewer.names_nobody else ()


def own_weights(agent: Agent, *, field: str = "weights") -> Weights:
    """Returns the weights of the agent's document; InvalidError of that field if not valid."""
    try:
        return weights_of(RetrievalWeights.read(agent.retrieval_weights))
    except DocumentError as error:
        raise InvalidError(
            f"The agent '{agent.slug}' has retrieval weights that cannot be used: {error}"
            " Correct them in its document, or give weights.",
            field=field,
        ) from None


def weights_of(given: RetrievalWeights) -> Weights:
    """Returns the weights of a document or a request."""
    return Weights(**dict(given))


def budget_for(agent: Agent, given: int | None) -> int:
    """Returns the given tokens, or else the agent's own; InvalidError if its own are too few."""
    if given is None and agent.token_budget < MINIMUM_BUDGET:
        raise InvalidError(
            f"The agent's own budget of {agent.token_budget} tokens is under the floor of"
            f" {MINIMUM_BUDGET}. Raise it in its document, or give token_budget.",
            field="token_budget",
        )
    return given or agent.token_budget
