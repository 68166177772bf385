"""What a query's complexity is: five judgements, their weighted sum, and the tier it asks for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Tier(StrEnum):
    """The class of model that a query asks for, cheapest first."""

    FAST = "fast"
    BALANCED = "balanced"
    POWERFUL = "powerful"


# Seed 000, "QueryComplexityScorer": the dimensions and what each counts.
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


def tier_of(weighted: float) -> Tier:
    """The tier of a weighted score; it is read to one decimal, as the cut-offs are given."""
    read = round(weighted, 1)
    if read <= FAST_UP_TO:
        return Tier.FAST
    return Tier.BALANCED if read <= BALANCED_UP_TO else Tier.POWERFUL


@dataclass(frozen=True, slots=True)
class ComplexityScore:
    """Five judgements from 0 to 10; `reasons` says for each dimension what it was judged by."""

    reasoning_depth: float
    domain_specificity: float
    creativity: float
    context_dependency: float
    output_length: float
    reasons: Mapping[str, str] = field(default_factory=dict)

    @property
    def dimensions(self) -> dict[str, float]:
        """The five judgements by name."""
        return {name: float(getattr(self, name)) for name in DIMENSIONS}

    @property
    def weighted(self) -> float:
        """The sum of the five by the seed's weights, 0 to 10, to three decimals."""
        return round(sum(WEIGHTS[name] * value for name, value in self.dimensions.items()), 3)

    @property
    def tier(self) -> Tier:
        """The tier that the weighted score asks for."""
        return tier_of(self.weighted)
