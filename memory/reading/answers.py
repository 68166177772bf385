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
from memory.reading.ranking import Ranked
from memory.reading.search import Candidates, Level, level_of
from memory.selectors.revisions import Revision
from teams.domain.agent_document import RetrievalWeights
from teams.domain.documents import DocumentError
from teams.errors import InvalidError
from teams.models import Agent


@dataclass(frozen=True, slots=True)
class ScoredMemory:
    """A memory with its score 0-1, its signals, and the tokens of its line in a prompt.

    `text_level` says how much of its text that line tells; `shorter` is what it tells in place of
    the text, "" where it tells the text itself.
    """

    memory: Memory
    score: float
    signals: Signals
    tokens: int = 0
    text_level: TextLevel = TextLevel.CONTENT
    shorter: str = ""

    @property
    def id(self) -> UUID:
        """The memory's."""
        return self.memory.pk

    @property
    def level(self) -> Level:
        """Where it comes from."""
        return level_of(self.memory)


@dataclass(frozen=True, slots=True)
class RetrievalStats:
    """What a retrieval took; times are milliseconds.

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
    """What a read chose from: every candidate, and those that are relevant enough."""

    found: Candidates
    relevant: Candidates


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieval:
    """The results of a search, each kind best first.

    `told` are its memories before they were loaded, `considered` all candidates. `revision` is the
    team's that it was made of, None where it may not be cached. `words` are those of the question
    that were searched for.
    """

    memories: Sequence[ScoredMemory]
    messages: Sequence[ScoredMessage]
    told: Sequence[Ranked]
    considered: Considered
    revision: Revision | None
    words: tuple[str, ...]
    stats: RetrievalStats = field(default_factory=RetrievalStats)

    @property
    def found(self) -> int:
        """How many memories it has."""
        return len(self.memories)

    @property
    def results(self) -> list[ScoredMemory | ScoredMessage]:
        """Memories and messages together, best first."""
        return sorted([*self.memories, *self.messages], key=lambda each: -each.score)

    @property
    def searched(self) -> tuple[Level, ...]:
        """The levels that were looked at."""
        return self.stats.searched

    @property
    def read_messages(self) -> bool:
        """Whether messages had a part in it."""
        return Level.RAW in self.searched

    @property
    def warnings(self) -> tuple[str, ...]:
        """What whoever asks should know about the answer."""
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
        """Whether messages had a part in it."""
        return self.has_heard_names or Level.RAW in self.searched


def milliseconds(start: float, end: float | None = None) -> float:
    """Between two moments of `time.perf_counter`, until now without the second."""
    return round(((end or time.perf_counter()) - start) * 1000, 3)


class Stopwatch:
    """Times steps that follow each other; it runs from when it is made."""

    def __init__(self) -> None:
        self._started = self._last = time.perf_counter()
        self.steps_ms: dict[str, float] = {}

    def lap(self, step: str) -> None:
        """What came since the last lap was this step."""
        now = time.perf_counter()
        self.steps_ms[step] = milliseconds(self._last, now)
        self._last = now

    @property
    def total_ms(self) -> float:
        """Milliseconds since it was started."""
        return milliseconds(self._started)


_WARNING = "no user is named, so nothing about people is told; name the user or the conversation"


def nobody_named(viewer: Viewer) -> tuple[str, ...]:
    """The warning of an answer for a viewer who names nobody, else none."""
    return (_WARNING,) if viewer.names_nobody else ()


def own_weights(agent: Agent, *, field: str = "weights") -> Weights:
    """The weights of the agent's document; InvalidError of that field where they are not valid."""
    try:
        return weights_of(RetrievalWeights.read(agent.retrieval_weights))
    except DocumentError as error:
        raise InvalidError(
            f"The agent '{agent.slug}' has retrieval weights that cannot be used: {error}"
            " Correct them in its document, or give weights.",
            field=field,
        ) from None


def weights_of(given: RetrievalWeights) -> Weights:
    """The weights of a document or a request."""
    return Weights(**dict(given))


def budget_for(agent: Agent, given: int | None) -> int:
    """The given tokens, or else the agent's own; InvalidError where its own are too few."""
    if given is None and agent.token_budget < MINIMUM_BUDGET:
        raise InvalidError(
            f"The agent's own budget of {agent.token_budget} tokens is under the floor of"
            f" {MINIMUM_BUDGET}. Raise it in its document, or give token_budget.",
            field="token_budget",
        )
    return given or agent.token_budget
