"""Labelled queries, and what a scorer's judgements of them are worth."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from routing.domain.choices import estimate_tokens, expected_output
from routing.domain.complexity import DIMENSIONS, ComplexityScore, Tier

LABELLED = Path(__file__).parent / "labelled" / "routing"
FIT, CHECK = LABELLED / "fit.jsonl", LABELLED / "check.jsonl"

# Seed 000, DEFAULT_TIERS: USD per 1,000 tokens of input and of output.
PRICES = {
    Tier.FAST: (Decimal("0.0008"), Decimal("0.004")),
    Tier.BALANCED: (Decimal("0.003"), Decimal("0.015")),
    Tier.POWERFUL: (Decimal("0.015"), Decimal("0.075")),
}
# An assumption, the same for every policy: what an earlier turn adds to the prompt.
TOKENS_A_TURN = 150


@dataclass(frozen=True, slots=True)
class Item:
    """One labelled query."""

    id: str
    query: str
    history_turns: int
    label: Tier
    dims: dict[str, float]

    @property
    def score(self) -> ComplexityScore:
        """The annotator's judgements."""
        return ComplexityScore(**self.dims, reasons={})

    def cost(self, tier: Tier) -> Decimal:
        """USD of an answer of the labelled length by a model of `tier`."""
        paid_in, paid_out = PRICES[tier]
        read = estimate_tokens(self.query) + TOKENS_A_TURN * self.history_turns
        return (paid_in * read + paid_out * expected_output(self.dims["output_length"])) / 1000


@dataclass(frozen=True, slots=True)
class Figures:
    """How a scorer did: shares from 0 to 1, errors on the scale of 0 to 10, USD for all items.

    `too_low` counts powerful queries sent to a fast model, the costly mistake.
    """

    count: int
    accuracy: float
    error: float
    dimension_errors: dict[str, float]
    confusion: dict[Tier, dict[Tier, int]]
    too_low: int
    cost: Decimal
    cost_by_label: Decimal
    cost_powerful: Decimal
    cost_fast: Decimal


def read_items(*, paths: Sequence[Path]) -> list[Item]:
    """The queries of JSON-lines files, in their order."""
    lines = [line for path in paths for line in path.read_text(encoding="utf-8").splitlines()]
    rows = [json.loads(line) for line in lines if line.strip()]
    return [
        Item(
            id=str(row["id"]),
            query=str(row["query"]),
            history_turns=int(row["history_turns"]),
            label=Tier(row["label"]),
            dims={name: float(row["dims"][name]) for name in DIMENSIONS},
        )
        for row in rows
    ]


def figures(*, items: Sequence[Item], scores: Sequence[ComplexityScore]) -> Figures:
    """What the scores are worth against the labels; `items` must not be empty."""
    both = list(zip(items, scores, strict=True))
    confusion = {label: dict.fromkeys(Tier, 0) for label in Tier}
    for item, score in both:
        confusion[item.label][score.tier] += 1
    return Figures(
        count=len(both),
        accuracy=sum(item.label is score.tier for item, score in both) / len(both),
        error=sum(abs(item.score.weighted - score.weighted) for item, score in both) / len(both),
        dimension_errors={
            name: sum(abs(item.dims[name] - score.dimensions[name]) for item, score in both)
            / len(both)
            for name in DIMENSIONS
        },
        confusion=confusion,
        too_low=confusion[Tier.POWERFUL][Tier.FAST],
        cost=sum((item.cost(score.tier) for item, score in both), Decimal()),
        cost_by_label=sum((item.cost(item.label) for item in items), Decimal()),
        cost_powerful=sum((item.cost(Tier.POWERFUL) for item in items), Decimal()),
        cost_fast=sum((item.cost(Tier.FAST) for item in items), Decimal()),
    )
