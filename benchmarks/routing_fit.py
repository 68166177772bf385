"""Fits the weights of the complexity scorer to labelled queries, and cross-validates them.

`python -m benchmarks.routing_fit` writes `routing/domain/complexity/weights.json` anew from
`benchmarks/labelled/routing/fit.jsonl`, the same each time. `--folds N` prints what a fit is worth
on queries it was not made from, as a whole and without each part; `--also FILE ...` adds queries of
your own to both.
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

from benchmarks.routing import FIT, Item, figures, read_items
from routing.clients.static_vectors import static_vectors
from routing.domain.complexity import DIMENSIONS, ComplexityScore, scorer
from routing.domain.complexity.features import feature_groups, measure

Matrix = NDArray[np.float64]

PARTS = 128  # of the static vector: its first parts hold most of what it says
PENALTY = 30.0
SPREAD = 0.45  # of a part of the vector, beside 1 of a feature: it is one of many
SEEDS = (0, 1)


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
        vectors=static_vectors([row.request.text for row in rows])[:, :PARTS].astype(float),
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


def ablations(table: Table) -> dict[str, Table]:
    """The table as a whole, and without each of its parts."""
    cut = {
        f"without {group}": np.array([name in names for name in table.names])
        for group, names in feature_groups().items()
    }
    return {
        "whole": table,
        "without the vector": Table(
            table.names, table.features, table.vectors[:, :0], table.wanted
        ),
        **{
            told: Table(table.names, table.features * ~out, table.vectors, table.wanted)
            for told, out in cut.items()
        },
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the weights, or print the cross-validated figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folds", type=int, default=0)
    parser.add_argument("--also", type=Path, nargs="*", default=[])
    options = parser.parse_args(arguments)
    items = read_items(paths=[FIT, *options.also])
    table = table_of(items)
    if not options.folds:
        path = Path(scorer.__file__).with_name("weights.json")
        path.write_text(weights_json(table), encoding="utf-8")
        return
    for told, part in ablations(table).items():
        for seed in SEEDS:
            judged = cross_validated(part, folds=options.folds, seed=seed)
            found = figures(items=items, scores=[ComplexityScore(*row) for row in judged.tolist()])
            print(
                f"{told:22} accuracy {found.accuracy:.3f}  score error {found.error:.2f}"
                f"  powerful sent to fast {found.too_low}"
            )


if __name__ == "__main__":
    main()
