"""Fits the weights of the complexity heuristics to labelled queries."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.routing_data import Item
from routing.domain.complexity.features import Measured, measure
from routing.domain.complexity.types import DIMENSIONS

Matrix = NDArray[np.float64]

PENALTY, STEPS, RATE = 1.0, 600, 0.05
# Each query is also fitted to as if most of its terms stood in no list, so that a query from a
# field without a list is not taken for an easy one.
COPIES, FORGOTTEN = 2, 0.7


class Fit:
    """A logistic curve from 0 to 10 for each dimension, by least squares with an L2 penalty.

    The penalty is on weights of features at a standard deviation of 1. `bias` has shape (5,),
    `weights` (features, 5) and `means` (features,), all for features as they are measured.
    """

    def __init__(self, *, items: Sequence[Item]) -> None:
        rows = [_forgetful(item, copy) for copy in range(COPIES + 1) for item in items]
        # What fewer than three queries have cannot be told from chance.
        whole = rows[: len(items)]
        names = sorted({name for row in whole for name in row.features})
        self.names = [name for name in names if sum(name in r.features for r in whole) >= 3]
        measured = _matrix([row.features for row in rows], self.names)
        wanted = np.array([[item.dims[name] for name in DIMENSIONS] for item in items]) / 10
        wanted = np.tile(wanted, (COPIES + 1, 1))
        self.means = measured.mean(axis=0)
        spread = measured.std(axis=0) + 1e-9
        slopes, start = _descend((measured - self.means) / spread, wanted)
        self.weights = slopes / spread[:, None]
        self.bias = start - self.means @ self.weights

    def judge(self, *, items: Sequence[Item]) -> Matrix:
        """The five judgements of each item, shape (items, 5)."""
        rows = [measure(query=item.query, history_turns=item.history_turns) for item in items]
        measured = _matrix([row.features for row in rows], self.names)
        return 10 * _logistic(measured @ self.weights + self.bias)

    def write(self, *, path: Path) -> None:
        """Write the module that the heuristics read their weights from."""
        lines = [
            '"""Data: what each feature adds to each dimension\'s logistic sum.',
            "",
            "Fitted by `python -m benchmarks.routing --data FILE ... --fit`, not by hand. A row is",
            "the feature's mean, then its weight in reasoning depth, domain specificity,",
            "creativity, context dependency and output length.",
            '"""',
            "",
            f"BIAS = {_written(self.bias)}",
            "WEIGHT_OF: dict[str, tuple[float, float, float, float, float, float]] = {",
        ]
        for name, mean, weights in zip(self.names, self.means, self.weights, strict=True):
            lines.append(f'    "{name}": {_written(np.array([mean, *weights]))},')
        path.write_text("\n".join([*lines, "}", ""]), encoding="utf-8")


def cross_validated(*, items: Sequence[Item], folds: int, also: Sequence[Item] = ()) -> Matrix:
    """Each item judged by a fit without its fold; `also` is always fitted to.

    As many folds as items leave one out at a time.
    """
    order = np.random.default_rng(0).permutation(len(items))
    judged = np.zeros((len(items), len(DIMENSIONS)))
    for fold in range(folds):
        held = order[fold::folds]
        rest = [items[place] for place in np.setdiff1d(order, held)]
        judged[held] = Fit(items=[*rest, *also]).judge(items=[items[place] for place in held])
    return judged


def _forgetful(item: Item, copy: int) -> Measured:
    """The item as it is (copy 0), or with most of its terms unknown; the same each time."""

    def knows(term: str) -> bool:
        drawn = hashlib.sha256(f"{copy}:{item.id}:{term}".encode()).digest()[0] / 256
        return copy == 0 or drawn >= FORGOTTEN

    return measure(query=item.query, history_turns=item.history_turns, knows=knows)


def _matrix(rows: Sequence[dict[str, float]], names: Sequence[str]) -> Matrix:
    return np.array([[row.get(name, 0.0) for name in names] for row in rows])


def _logistic(sums: Matrix) -> Matrix:
    curved: Matrix = 1 / (1 + np.exp(-np.clip(sums, -30, 30)))
    return curved


def _descend(x: Matrix, wanted: Matrix) -> tuple[Matrix, Matrix]:
    """Weights and biases by Adam on all items at once, with a step that shrinks to a tenth."""
    theta = np.zeros((x.shape[1] + 1, wanted.shape[1]))
    first, second = np.zeros_like(theta), np.zeros_like(theta)
    for step in range(1, STEPS + 1):
        given = _logistic(x @ theta[:-1] + theta[-1])
        pull = 2 * (given - wanted) * given * (1 - given)
        gradient = np.vstack([x.T @ pull + PENALTY * (COPIES + 1) * theta[:-1], pull.sum(axis=0)])
        first = 0.9 * first + 0.1 * gradient
        second = 0.99 * second + 0.01 * gradient**2
        rate = RATE * (1 - 0.9 * step / STEPS)
        theta -= rate * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.99**step)) + 1e-8)
    return theta[:-1], theta[-1]


def _written(numbers: Matrix) -> str:
    return "(" + ", ".join(f"{number:.3f}" for number in numbers) + ")"
