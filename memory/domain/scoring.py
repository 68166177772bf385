"""How the five signals of a memory become one score (seed 000, the pipeline's step 4)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields

from .types import MemoryType, Status

DECAY_PER_HOUR = 0.01
PINNED_FLOOR = 0.95
DISPUTED_FACTOR = 0.5
SAME_CONVERSATION = 1.0
# Words carry more than the static vectors do; measured on turns of conversations, see design.md.
LEXICAL_SHARE = 0.7


@dataclass(frozen=True, slots=True)
class Weights:
    """An agent's weights of the five signals; they need not sum to one."""

    semantic: float = 0.60
    recency: float = 0.10
    importance: float = 0.15
    continuity: float = 0.10
    relation: float = 0.05

    @classmethod
    def from_config(cls, config: Mapping[str, object]) -> Weights:
        """The weights of an agent's document; a missing one keeps its default.

        Raises ValueError for an unknown name, a negative or non-finite weight, or a sum of zero.
        """
        known = {item.name for item in fields(cls)}
        unknown = sorted(set(config) - known)
        if unknown:
            raise ValueError(f"unknown retrieval weight: {', '.join(unknown)}")
        values = asdict(cls())
        for name, value in config.items():
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise ValueError(f"the retrieval weight {name} must be a number")
            if not math.isfinite(value) or value < 0:
                raise ValueError(f"the retrieval weight {name} must be zero or more")
            values[name] = float(value)
        if sum(values.values()) <= 0:
            raise ValueError("the retrieval weights must not all be zero")
        return cls(**values)


@dataclass(frozen=True, slots=True)
class Signals:
    """The five signals of one memory for one query, each 0-1, and the parts of relevance."""

    semantic: float = 0.0
    recency: float = 0.0
    importance: float = 0.0
    continuity: float = 0.0
    relation: float = 0.0
    cosine: float = 0.0
    lexical: float = 0.0


def recency(hours_since_access: float) -> float:
    """exp(-0.01 h): one now, a half after about 69 hours; a future time counts as now."""
    return math.exp(-DECAY_PER_HOUR * max(0.0, hours_since_access))


def relevance(*, cosine: float, lexical: float) -> float:
    """Meaning and words as one number 0-1; both arguments are clipped to 0-1."""
    return LEXICAL_SHARE * _unit(lexical) + (1 - LEXICAL_SHARE) * _unit(cosine)


def importance_signal(*, importance: int, is_pinned: bool) -> float:
    """Importance 1-10 as 0.1-1; a pinned memory counts as one."""
    return 1.0 if is_pinned else _unit(importance / 10)


def weighted_mean(signals: Signals, *, weights: Weights) -> float:
    """The five signals, clipped to 0-1, under the weights; 0-1 whatever the weights sum to."""
    total = (
        weights.semantic
        + weights.recency
        + weights.importance
        + weights.continuity
        + weights.relation
    )
    score = (
        weights.semantic * _unit(signals.semantic)
        + weights.recency * _unit(signals.recency)
        + weights.importance * _unit(signals.importance)
        + weights.continuity * _unit(signals.continuity)
        + weights.relation * _unit(signals.relation)
    )
    return _unit(score / total)


def final_score(
    signals: Signals, *, weights: Weights, memory_type: str, is_pinned: bool, status: str
) -> float:
    """The weighted mean of the signals, 0-1, under the seed's policies.

    Identity memories score 1.0 and pinned ones at least 0.95; a disputed one counts half of what
    it would, before those floors, because pinned and identity memories always reach the prompt.
    """
    score = weighted_mean(signals, weights=weights)
    if status == Status.DISPUTED:
        score *= DISPUTED_FACTOR
    if is_pinned:
        score = max(score, PINNED_FLOOR)
    if memory_type == MemoryType.IDENTITY:
        score = 1.0
    return _unit(score)


def _unit(value: float) -> float:
    return min(1.0, max(0.0, value))
