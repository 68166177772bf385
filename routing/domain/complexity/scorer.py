"""The complexity of a query: five scores by a linear model over its features and static vector."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from .features import Measured, lines_of, measure

Embed = Callable[[Sequence[str]], NDArray[np.float32]]

# Seed 000, "QueryComplexityScorer": the dimensions and their weights.
WEIGHTS: Mapping[str, float] = {
    "reasoning_depth": 0.30,
    "domain_specificity": 0.25,
    "creativity": 0.20,
    "context_dependency": 0.15,
    "output_length": 0.10,
}
DIMENSIONS = tuple(WEIGHTS)
# Seed 000, "ModelRouter": 0 to 3 is fast, 3.1 to 6 balanced, 6.1 to 10 powerful.
FAST_UP_TO = 3.0
BALANCED_UP_TO = 6.0
# A short follow-up such as "still wrong, try again" is nearly as hard as what it follows. These
# figures are chosen, not fitted, and lean towards the harder side: a hard query sent to a fast
# model is the costly mistake.
_FOLLOW_UP_WORDS = 15
_TURNS_BACK = 3
_AS_HARD = 0.85
_CARRIED = ("reasoning_depth", "domain_specificity")
# An unreadable query counts as middling, for the same reason.
_UNREAD = {
    "reasoning_depth": 5.0,
    "domain_specificity": 5.0,
    "creativity": 2.0,
    "output_length": 4.0,
}
# A reason names so many features, and none that moves a middling score by less than .5.
_NAMED = 3
_WORTH_NAMING = 0.2
_SUBJECT = "what it is about"


class Tier(StrEnum):
    """A class of models, cheapest first."""

    FAST = "fast"
    BALANCED = "balanced"
    POWERFUL = "powerful"


def tier_of(weighted: float) -> Tier:
    """The tier of a weighted score, rounded to one decimal as the cut-offs are."""
    rounded = round(weighted, 1)
    if rounded <= FAST_UP_TO:
        return Tier.FAST
    return Tier.BALANCED if rounded <= BALANCED_UP_TO else Tier.POWERFUL


@dataclass(frozen=True, slots=True)
class ComplexityScore:
    """Five scores from 0 to 10, and the reason for each."""

    reasoning_depth: float
    domain_specificity: float
    creativity: float
    context_dependency: float
    output_length: float
    reasons: Mapping[str, str] = field(default_factory=dict)

    @property
    def dimensions(self) -> dict[str, float]:
        """The five scores by name."""
        return {name: float(getattr(self, name)) for name in DIMENSIONS}

    @property
    def weighted(self) -> float:
        """The sum of the five by the seed's weights, 0 to 10, to three decimals."""
        return round(sum(WEIGHTS[name] * value for name, value in self.dimensions.items()), 3)

    @property
    def tier(self) -> Tier:
        """The tier of the weighted score."""
        return tier_of(self.weighted)


@dataclass(frozen=True, slots=True)
class Weights:
    """The fitted model, made by `benchmarks/routing_fit.py`.

    `features` holds the mean of each feature over the fitted queries and its weight in each
    dimension; `vector` has shape (used parts of the static vector, 5), `subject` (5,) is what the
    vector of an average query adds.
    """

    bias: NDArray[np.float64]
    features: Mapping[str, NDArray[np.float64]]
    vector: NDArray[np.float64]
    subject: NDArray[np.float64]


@cache
def fitted_weights() -> Weights:
    """The weights of `weights.json`."""
    read = json.loads(files(__package__).joinpath("weights.json").read_text(encoding="utf-8"))
    return Weights(
        bias=np.array(read["bias"]),
        features={name: np.array(row) for name, row in read["features"].items()},
        vector=np.array(read["vector"]),
        subject=np.array(read["subject"]),
    )


@cache
def _feature_words() -> Mapping[str, str]:
    return lines_of("reasons.txt")


def score_query(
    *, query: str, history_turns: int = 0, history: Sequence[str] = (), embed: Embed
) -> ComplexityScore:
    """The complexity of `query` after `history_turns` earlier turns; deterministic.

    `history` holds the texts of the latest ones, oldest first. `embed` returns the static vectors
    that the weights were fitted to. The reasons name kinds of words and never repeat the query.
    """
    measured = measure(query=query, history_turns=history_turns)
    values, reasons = _scored(measured, embed)
    floors: list[tuple[Mapping[str, float], str]] = []
    if not measured.is_readable:
        floors.append((_UNREAD, "a language that the word lists do not hold"))
    if history and measured.asks_again and len(measured.words) <= _FOLLOW_UP_WORDS:
        floors.append((_carried(history, embed), "follows up on a harder turn"))
    for least, why in floors:
        for name, floor in least.items():
            if floor > values[name]:
                values[name], reasons[name] = floor, why
    return ComplexityScore(**values, reasons=reasons)


def _scored(measured: Measured, embed: Embed) -> tuple[dict[str, float], dict[str, str]]:
    weights, words = fitted_weights(), _feature_words()
    subject = embed([measured.text])[0, : len(weights.vector)] @ weights.vector
    sums = weights.bias + subject
    moved = {_SUBJECT: subject - weights.subject}
    for name, row in weights.features.items():
        value = measured.features[name]
        sums = sums + value * row[1:]
        if value and (named := words.get(name)):
            moved[named] = moved.get(named, 0.0) + (value - row[0]) * row[1:]
    values = {
        name: round(10 / (1 + math.exp(-total)), 2)
        for name, total in zip(DIMENSIONS, sums.tolist(), strict=True)
    }
    return values, {name: _reason(moved, place) for place, name in enumerate(DIMENSIONS)}


def _carried(history: Sequence[str], embed: Embed) -> dict[str, float]:
    """The scores that a follow-up takes over from the hardest of the last turns."""
    earlier = [
        _scored(measure(query=text, history_turns=0), embed)[0] for text in history[-_TURNS_BACK:]
    ]
    return {name: round(_AS_HARD * max(values[name] for values in earlier), 2) for name in _CARRIED}


def _reason(moved: Mapping[str, NDArray[np.float64]], place: int) -> str:
    """The features that moved a dimension most from an average query's score."""
    by = {named: float(row[place]) for named, row in moved.items()}
    most = sorted(by, key=lambda each: -abs(by[each]))[:_NAMED]
    raised = ", ".join(each for each in most if by[each] >= _WORTH_NAMING)
    lowered = ", ".join(each for each in most if by[each] <= -_WORTH_NAMING)
    parts = [raised and f"raised by {raised}", lowered and f"lowered by {lowered}"]
    return "; ".join(filter(None, parts)) or "nothing speaks for or against it"
