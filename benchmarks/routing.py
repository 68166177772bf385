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
import os
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.routing_data import CHECK, Figures, Item, figures, read_items
from routing.clients.static_vectors import static_vectors
from routing.domain.complexity import ComplexityScore, Tier, score_query


def report(*, title: str, items: Sequence[Item], scores: Sequence[ComplexityScore]) -> Figures:
    """Print and return the figures of one scorer."""
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
    return found


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
    return score_query(query=item.query, history_turns=item.history_turns, embed=static_vectors)


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
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django

    django.setup()
    from routing.clients.classifier import configured_classifier
    from routing.clients.protocol import CompletionError

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
