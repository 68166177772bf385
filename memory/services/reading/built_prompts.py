"""A system prompt as it is handed out: its text, its layers, and what it was made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from memory.domain.plans.assembly import Assembly
from memory.domain.plans.prompt import LAYERS, Layer
from memory.models import Contradiction
from memory.services.reading.cascade import Level
from memory.services.reading.recall import ScoredMemory
from memory.services.reading.scored_messages import ScoredMessage


@dataclass(frozen=True, slots=True)
class LayerUse:
    """What became of a layer: `number` is 1-7, `cut` says how much of it the budget took away."""

    number: int
    name: Layer
    tokens: int
    memories: int
    cut: int
    cut_tokens: int


@dataclass(frozen=True, slots=True)
class PromptMemory:
    """A memory in the prompt, and the number of the layer it stands in."""

    scored: ScoredMemory
    layer: int


@dataclass(frozen=True, slots=True)
class PromptStats:
    """What a prompt took; times are milliseconds."""

    tokens_used: int
    token_budget: int
    token_counter: str
    signals_hit: Mapping[str, int]
    duplicates: int
    total_ms: float
    steps_ms: Mapping[str, float]
    cache_hit: bool = False
    searched: tuple[Level, ...] = ()

    def again(self, *, total_ms: float) -> PromptStats:
        """Those of the same prompt when it was kept."""
        return replace(self, cache_hit=True, total_ms=total_ms, steps_ms={"cache": total_ms})


@dataclass(frozen=True, slots=True)
class BuiltPrompt:
    """A prompt, its seven layers in their order, and the ids of the memories in it, best first.

    `similarity` is the best cosine among them. `memories` are they, and `contradictions` those
    among them, unless it was made to be read by a model alone. `messages` are quoted in layer 5,
    below what memories say.
    """

    prompt: str
    layers: tuple[LayerUse, ...]
    told: tuple[UUID, ...]
    similarity: float | None
    memories: Sequence[PromptMemory]
    messages: Sequence[ScoredMessage]
    contradictions: Sequence[Contradiction]
    warnings: tuple[str, ...]
    stats: PromptStats

    @property
    def found(self) -> int:
        """How many memories it tells."""
        return len(self.told)

    @property
    def trimmed(self) -> list[LayerUse]:
        """The layers that the budget cut into, the first trimmed first."""
        return [layer for layer in reversed(self.layers) if layer.cut]


def layers_of(assembly: Assembly) -> tuple[LayerUse, ...]:
    """What became of each layer."""
    cut = {each.section: each for each in assembly.trimmed}
    return tuple(
        LayerUse(
            number=number,
            name=layer,
            tokens=assembly.tokens[layer],
            memories=sum(told.section == layer for told in assembly.told),
            cut=cut[layer].count if layer in cut else 0,
            cut_tokens=cut[layer].tokens if layer in cut else 0,
        )
        for number, layer in enumerate(LAYERS, start=1)
    )
