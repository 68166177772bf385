"""Combines the signals of a memory into one score (seed 000, the pipeline's step 4).

Five are weighed by the agent. What use was made of the memory, and what was predicted before the
question came, add to their mean by at most `USAGE_SHARE` and `PREFETCH_SHARE`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

DECAY_PER_HOUR = 0.01
PINNED_FLOOR = 0.95
DISPUTED_FACTOR = 0.5
# What rests on a tool or a page alone stands behind what people and agents say.
UNCONFIRMED_FACTOR = 0.5
SAME_CONVERSATION = 1.0
# Enough to decide between candidates that say about the same, too little to bring up another
# matter (docs/decisions/0050-usage-and-predictions.md).
USAGE_SHARE = 0.03
PREFETCH_SHARE = 0.05
# So many ignores weigh against one citation: most of what a prompt holds is not used.
IGNORES_PER_CITATION = 5
# The rate of use counts as if so many uses had been seen that speak neither way.
USAGE_PRIOR = 3
# What is only drawn from other memories stands behind them.
INSIGHT_FACTOR = 0.5
# Where even the best candidate is less relevant than this, all are compared with this.
LEAST_BEST = 0.2


@dataclass(frozen=True, slots=True)
class Weights:
    """An agent's weights of the five signals; they need not sum to one."""

    semantic: float = 0.60
    recency: float = 0.10
    importance: float = 0.15
    continuity: float = 0.10
    relation: float = 0.05


# Not frozen, as `Signals` is not: there are dozens an answer, and that takes three times as long.
@dataclass(slots=True)
class Parts:
    """The parts of relevance, which add up to the semantic signal.

    `words` and `meaning` are of the memory's own text, `neighbours` what is lent by those near it
    in its conversation, `person` and `time` how well it fits whom and when is asked about.
    """

    words: float = 0.0
    meaning: float = 0.0
    neighbours: float = 0.0
    person: float = 0.0
    time: float = 0.0


@dataclass(slots=True)
class Signals:
    """The signals of one memory for one query, each 0-1, and what lies behind relevance.

    `cosine` is of its vector, `lexical` the share of the question's words that it or, discounted,
    its neighbours have. `usage` is -1 to 1, and `prefetched` the chance that was predicted.
    """

    semantic: float = 0.0
    recency: float = 0.0
    importance: float = 0.0
    continuity: float = 0.0
    relation: float = 0.0
    cosine: float = 0.0
    lexical: float = 0.0
    usage: float = 0.0
    prefetched: float = 0.0
    parts: Parts = field(default_factory=Parts)


@dataclass(frozen=True)
class SignalTable:
    """The signals of many memories for one query: as `Signals`, a column each, of one length.

    `parts` has a row for each field of `Parts`; None stands for nothing but zeros.
    """

    semantic: Floats
    recency: Floats
    importance: Floats
    continuity: Floats
    relation: Floats
    cosine: Floats
    lexical: Floats
    usage: Floats
    prefetched: Floats
    parts: Floats | None = None

    def at(self, place: int) -> Signals:
        """Returns the signals of one memory."""
        parts = Parts(*self._parts[place]) if self._parts else Parts()
        a, b, c, d, e, cosine, lexical, usage, prefetched = self._rows[place]
        return Signals(a, b, c, d, e, cosine, lexical, usage, prefetched, parts)

    # There are dozens of answers to a question: read once, and not number by number.
    @cached_property
    def _rows(self) -> list[tuple[float, ...]]:
        columns = [getattr(self, name).tolist() for name in _COLUMNS]
        return list(zip(*columns, strict=True))

    @cached_property
    def _parts(self) -> list[list[float]]:
        found: list[list[float]] = [] if self.parts is None else self.parts.T.tolist()
        return found


_COLUMNS = tuple(item.name for item in fields(SignalTable) if item.name != "parts")
_WEIGHED = tuple(item.name for item in fields(Weights))


def recency(hours_since_access: Floats) -> Floats:
    """exp(-0.01 h): one now, a half after about 69 hours; a future time counts as now."""
    decayed: Floats = np.exp(-DECAY_PER_HOUR * np.maximum(0.0, hours_since_access))
    return decayed


def importance_signal(*, importance: Floats, is_pinned: Flags) -> Floats:
    """Importance 1-10 as 0.1-1; a pinned memory counts as one."""
    return np.where(is_pinned, 1.0, _unit(importance / 10))


def usage_signal(*, cited: Floats, ignored: Floats) -> Floats:
    """Returns the usefulness of a memory, -1 to 1, or 0 without feedback (seed 002, §5).

    A smoothed rate: it rises with each citation, falls with each ignore, and tends to 1 or -1.
    """
    against = ignored / IGNORES_PER_CITATION
    return (cited - against) / (cited + against + USAGE_PRIOR)


def relative_to_best(relevance: Floats, *, is_confirmed: Flags | None = None) -> Floats:
    """Each candidate's share of the best one's relevance, squared: 0-1, mostly 1 for the best.

    The best one is a confirmed one where one is relevant, so that no other makes it seem beside the
    point.

    Good answers have a relevance of 0.2 to 0.6 and chance has half of it, while recency and
    importance spread over the whole of 0-1: as they are found, recent and important memories of
    anything else would rank before the answer. Measured in
    docs/decisions/0038-relevance-relative-to-the-best.md.
    """
    best = 0.0 if is_confirmed is None else relevance[is_confirmed].max(initial=0.0)
    if best < LEAST_BEST:
        best = relevance.max(initial=LEAST_BEST)
    share = _unit(relevance / best)
    return share * share


def weighted_means(signals: SignalTable, *, weights: Weights) -> Floats:
    """The five signals, clipped to 0-1, under the weights, and what adds to their mean.

    It is 0-1 whatever the weights sum to.
    """
    total = sum(getattr(weights, name) for name in _WEIGHED)
    score = sum(getattr(weights, name) * _unit(getattr(signals, name)) for name in _WEIGHED)
    added = USAGE_SHARE * np.clip(signals.usage, -1.0, 1.0)
    added += PREFETCH_SHARE * _unit(signals.prefetched)
    return _unit(np.asarray(score) / total + added)


def score_shares(signals: Signals, *, weights: Weights) -> dict[str, float]:
    """Returns the share of each of the five signals in a memory's weighted mean, 0-1."""
    total = sum(getattr(weights, name) for name in _WEIGHED)
    return {
        name: getattr(weights, name) * min(max(getattr(signals, name), 0.0), 1.0) / total
        for name in _WEIGHED
    }


def final_scores(
    signals: SignalTable,
    *,
    weights: Weights,
    is_identity: Flags,
    is_pinned: Flags,
    is_disputed: Flags,
) -> Floats:
    """The weighted means of the signals, 0-1, under the seed's policies.

    Identity memories score 1.0 and pinned ones at least 0.95; a disputed one counts half of what
    it would, before those floors, because pinned and identity memories always reach the prompt.
    """
    score = weighted_means(signals, weights=weights)
    score = np.where(is_disputed, score * DISPUTED_FACTOR, score)
    score = np.where(is_pinned, np.maximum(score, PINNED_FLOOR), score)
    return _unit(np.where(is_identity, 1.0, score))


def _unit(values: Floats) -> Floats:
    clipped: Floats = np.clip(values, 0.0, 1.0)
    return clipped
