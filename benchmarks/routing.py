"""How well the complexity scorer chooses tiers, and what that saves.

`python -m benchmarks.routing [--data FILE ...] [--llm] [--verbose]`

Prints the accuracy of the tier, the mean absolute error of the score and of each dimension, the
confusion matrix, the cost against always asking the powerful and always the fast model (seed
prices, answers of the labelled length), and the CPU time a query. Without `--data` it reads
`benchmarks/labelled/routing/check.jsonl`, which nothing is fitted to. `--llm` asks CLASSIFIER_MODEL
as well.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from routing.clients.classifier import configured_classifier
from routing.clients.protocol import CompletionError
from routing.domain.choices import estimate_tokens, expected_output
from routing.domain.complexity import DIMENSIONS, ComplexityScore, Tier
from routing.services.complexity import heuristic_score

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


def report(*, title: str, items: Sequence[Item], scores: Sequence[ComplexityScore]) -> None:
    """Print the figures of one scorer."""
    found = figures(items=items, scores=scores)
    print(f"== {title}")
    print(f"n={found.count}  tier accuracy {found.accuracy:.3f}  score error {found.error:.2f}")
    errors = "  ".join(f"{name} {error:.2f}" for name, error in found.dimension_errors.items())
    print(f"dimension errors  {errors}")
    print(f"{'label / scored':16}" + "".join(f"{tier:>10}" for tier in Tier))
    for label, row in found.confusion.items():
        print(f"{label:16}" + "".join(f"{row[tier]:>10}" for tier in Tier))
    print(f"powerful queries sent to fast: {found.too_low}")
    print(
        f"cost USD {found.cost:.4f}: {found.cost / found.cost_powerful:.0%} of always powerful"
        f" ({found.cost_powerful:.4f}), {found.cost / found.cost_fast:.1f} times always fast"
        f" ({found.cost_fast:.4f}); by the labels {found.cost_by_label:.4f}"
    )


def print_failures(*, items: Sequence[Item], scores: Sequence[ComplexityScore]) -> None:
    """Print each item whose tier is wrong, with both judgements and the reasons."""
    for item, score in zip(items, scores, strict=True):
        if item.label is score.tier:
            continue
        print(f"\n{item.id}: {item.label} {item.score.weighted}, scored {score.tier}", end=" ")
        print(f"{score.weighted}  ({item.history_turns} turns)\n  {item.query}")
        for name, value in score.dimensions.items():
            print(f"  {name:20}{item.dims[name]:>5} {value:>6}  {score.reasons.get(name, '')}")


def heuristics(item: Item) -> ComplexityScore:
    """The score of the heuristics."""
    return heuristic_score(query=item.query, history_turns=item.history_turns)


def milliseconds(items: Sequence[Item]) -> float:
    """CPU time that the heuristics take a query, the least of five rounds."""
    rounds = []
    for _ in range(5):
        started = time.process_time()
        for item in items:
            heuristics(item)
        rounds.append(time.process_time() - started)
    return min(rounds) / len(items) * 1000


def classified(items: Sequence[Item]) -> list[ComplexityScore]:
    """The scores of the classifier model; exits where none is set or it fails."""
    classifier = configured_classifier()
    if classifier is None:
        raise SystemExit("Set CLASSIFIER_MODEL, and OPENAI_BASE_URL or OPENAI_API_KEY.")
    try:
        return [
            classifier.classify(query=item.query, history=(), history_turns=item.history_turns)
            for item in items
        ]
    except CompletionError as error:
        raise SystemExit(f"The classifier gave no score: {error}") from None


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line or `arguments`, score the queries and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, nargs="+", default=[CHECK])
    parser.add_argument("--llm", action="store_true", help="ask the classifier model as well")
    parser.add_argument("--verbose", action="store_true", help="print each wrong tier")
    options = parser.parse_args(arguments)
    items = read_items(paths=options.data)
    scores = [heuristics(item) for item in items]
    report(title="heuristics", items=items, scores=scores)
    print(f"{milliseconds(items):.3f} ms CPU a query")
    if options.verbose:
        print_failures(items=items, scores=scores)
    if options.llm:
        report(title="classifier model", items=items, scores=classified(items))


if __name__ == "__main__":
    main()
