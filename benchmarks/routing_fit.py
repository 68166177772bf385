"""Fits the weights of the complexity scorer to labelled queries.

`python -m benchmarks.routing_fit` writes `routing/domain/complexity/weights.json` anew from
`benchmarks/labelled/routing/fit.jsonl`, the same each time, and prints how well the scorer does on
`check.jsonl`, which nothing is fitted to. `--folds N` writes nothing and cross-validates a fit;
`--also FILE ...` adds queries of your own.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from routing.clients.embeddings import static_vectors
from routing.domain import complexity
from routing.domain.complexity import DIMENSIONS, ComplexityScore, Tier, measure
from routing.services.complexity import heuristic_score

LABELLED = Path(__file__).parent / "labelled" / "routing"
FIT, CHECK = LABELLED / "fit.jsonl", LABELLED / "check.jsonl"
PARTS = 128  # of the static vector: its first parts hold most of what it says
PENALTY = 30.0
SPREAD = 0.45  # of a part of the vector, beside 1 of a feature: it is one of many

Matrix = NDArray[np.float64]


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


@dataclass(frozen=True, slots=True)
class Figures:
    """Share of right tiers, mean error on the scale of 0 to 10, and powerful queries sent to fast.

    The last is the costly mistake.
    """

    accuracy: float
    error: float
    too_low: int

    def __str__(self) -> str:
        return (
            f"accuracy {self.accuracy:.3f}, error {self.error:.2f},"
            f" powerful sent to fast {self.too_low}"
        )


def read_items(*paths: Path) -> list[Item]:
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


def figures(items: Sequence[Item], scores: Sequence[ComplexityScore]) -> Figures:
    """The scores against the labels; `items` must not be empty."""
    both = list(zip(items, scores, strict=True))
    return Figures(
        accuracy=sum(item.label is score.tier for item, score in both) / len(both),
        error=sum(abs(item.score.weighted - score.weighted) for item, score in both) / len(both),
        too_low=sum(
            item.label is Tier.POWERFUL and score.tier is Tier.FAST for item, score in both
        ),
    )


def scored(items: Sequence[Item]) -> Figures:
    """The figures of the scorer in use."""
    return figures(
        items,
        [heuristic_score(query=each.query, history_turns=each.history_turns) for each in items],
    )


@dataclass(frozen=True, slots=True)
class Table:
    """Queries as numbers.

    Shapes: `features` (queries, names), `vectors` (queries, parts), `wanted` (queries, 5).
    """

    names: list[str]
    features: Matrix
    vectors: Matrix
    wanted: Matrix


def table_of(items: Sequence[Item]) -> Table:
    """Measure the queries as the scorer does."""
    rows = [measure(query=item.query, history_turns=item.history_turns) for item in items]
    names = sorted(rows[0].features)
    return Table(
        names=names,
        features=np.array([[row.features[name] for name in names] for row in rows]),
        vectors=static_vectors([row.text for row in rows])[:, :PARTS].astype(float),
        wanted=np.array([[item.dims[name] for name in DIMENSIONS] for item in items]) / 10,
    )


def fit(table: Table, rows: NDArray[np.int_]) -> tuple[Matrix, Matrix, Matrix]:
    """Bias (5,), weights of the features (names, 5) and of the vectors (parts, 5).

    A logistic curve for each dimension with an L2 penalty on what has a standard deviation of 1.
    """
    features, vectors = table.features[rows], table.vectors[rows]
    scale = np.concatenate([features.std(axis=0) + 1e-9, (vectors.std(axis=0) + 1e-9) / SPREAD])
    measured = np.hstack([features, vectors]) / scale
    twice, ends = np.vstack([measured, measured]), np.repeat([1, 0], len(rows))
    slopes, bias = [], []
    for wanted in table.wanted[rows].T:
        # A judgement of 7 of 10 counts as .7 of a yes and .3 of a no.
        curve = LogisticRegression(C=1 / PENALTY, solver="newton-cholesky", tol=1e-8)
        curve.fit(twice, ends, sample_weight=np.concatenate([wanted, 1 - wanted]))
        slopes.append(curve.coef_[0] / scale)
        bias.append(curve.intercept_[0])
    weights = np.array(slopes).T
    return np.array(bias), weights[: len(table.names)], weights[len(table.names) :]


def cross_validated(table: Table, *, folds: int, seed: int = 0) -> Matrix:
    """Each query judged, 0 to 10, by a fit without its fold."""
    order = np.random.default_rng(seed).permutation(len(table.wanted))
    judged = np.zeros_like(table.wanted)
    for fold in range(folds):
        held = order[fold::folds]
        bias, features, vector = fit(table, np.setdiff1d(order, held))
        sums = table.features[held] @ features + table.vectors[held] @ vector + bias
        judged[held] = 10 / (1 + np.exp(-sums))
    return judged


def weights_json(table: Table) -> str:
    """The fitted weights as the scorer reads them, rounded to three decimals."""
    bias, features, vector = fit(table, np.arange(len(table.wanted)))
    means = table.features.mean(axis=0)[:, None]
    written = {
        "bias": _rounded(bias),
        "subject": _rounded(table.vectors.mean(axis=0) @ vector),
        "features": dict(zip(table.names, _rounded(np.hstack([means, features])), strict=True)),
        "vector": _rounded(vector),
    }
    parts = ",\n".join(f"{json.dumps(name)}: {_lines(value)}" for name, value in written.items())
    return f"{{\n{parts}\n}}\n"


def _rounded(numbers: Matrix) -> list[object]:
    # Adding 0 turns -0.0 into 0.0.
    rounded: list[object] = (np.round(numbers, 3) + 0.0).tolist()
    return rounded


def _lines(value: object) -> str:
    """One row a line, so that a change of the weights can be read."""
    return json.dumps(value).replace("], ", "],\n").replace("[[", "[\n[").replace("{", "{\n")


def main() -> None:
    """Writes the weights and prints the figures, or cross-validates."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folds", type=int, default=0)
    parser.add_argument("--also", type=Path, nargs="*", default=[])
    options = parser.parse_args()
    items = read_items(FIT, *options.also)
    table = table_of(items)
    if options.folds:
        judged = cross_validated(table, folds=options.folds)
        print(figures(items, [ComplexityScore(*row) for row in judged.tolist()]))
        return
    path = Path(complexity.__file__).with_name("weights.json")
    path.write_text(weights_json(table), encoding="utf-8")
    print(scored(read_items(CHECK)))


if __name__ == "__main__":
    main()
