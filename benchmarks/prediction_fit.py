"""Fits both models of the plans satellite (prediction/ownership.py) on histories of repositories.

`python -m benchmarks.prediction_fit --history FILE [--history FILE ...] [--write]`

Prints what a fit on each history scores on each other one. `--write` fits on all of them together
and writes memory/satellites/plans/prediction/weights.py.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.prediction import by_ownership, told
from benchmarks.prediction_data import Commit, events, read_history, shares
from memory.satellites.plans.prediction import weights
from memory.satellites.plans.prediction.ownership import features_of_all, features_of_one, file_name

_STRENGTH: Final = 1e-3
_STEPS: Final = 30
_DECIMALS: Final = 4
_PER_LINE: Final = 8

Weights = tuple[float, ...]
Rows = list[tuple[tuple[float, ...], bool]]


def fitted(histories: Sequence[Sequence[Commit]]) -> tuple[Weights, Weights]:
    """The weights of both models; the second reads what the first one says."""
    first = _logistic([row for each in histories for row in _rows_of_one(each)])
    return first, _logistic([row for each in histories for row in _rows_of_all(each, first)])


def _rows_of_one(history: Sequence[Commit]) -> Rows:
    rows: Rows = []
    for event in events(history):
        for path in event.commit.paths:
            touches = [t for t in event.touches if file_name(t.path) == file_name(path)]
            found = features_of_one(path=path, touches=touches)
            rows += [(row, key in event.commit.needed) for key, row in found.items()]
    return rows


def _rows_of_all(history: Sequence[Commit], of_one: Weights) -> Rows:
    rows: Rows = []
    for event in events(history):
        paths = event.commit.paths
        for opened in {paths[:1], paths}:
            found = features_of_all(opened=opened, touches=event.touches, of_one=of_one)
            rows += [(row, key in event.commit.needed) for key, (row, _) in found.items()]
    return rows


def _logistic(rows: Rows) -> Weights:
    """Newton's method on standardised features with a small ridge."""
    features: NDArray[np.float64] = np.array([row for row, _ in rows])
    labels = np.array([float(label) for _, label in rows])
    mean, spread = features.mean(0), features.std(0) + 1e-9
    scaled = np.hstack([np.ones((len(rows), 1)), (features - mean) / spread])
    found = np.zeros(scaled.shape[1])
    for _ in range(_STEPS):
        chance = 1 / (1 + np.exp(-scaled @ found))
        slope = scaled.T @ (chance - labels) / len(rows) + _STRENGTH * found
        bend = (scaled * (chance * (1 - chance))[:, None]).T @ scaled / len(rows)
        found -= np.linalg.solve(bend + _STRENGTH * np.eye(len(found)), slope)
    plain = found[1:] / spread
    values = [found[0] - (plain * mean).sum(), *plain]
    return tuple(round(float(each), _DECIMALS) for each in values)


def _write(models: tuple[Weights, Weights]) -> None:
    file = Path(weights.__file__)
    head = file.read_text().partition("OF_ONE_FILE")[0]
    tables = []
    for name, values in zip(("OF_ONE_FILE", "OF_ALL_FILES"), models, strict=True):
        texts = [str(each) for each in values]
        lines = [
            f"    {', '.join(texts[at : at + _PER_LINE])},"
            for at in range(0, len(texts), _PER_LINE)
        ]
        tables.append("\n".join([f"{name}: Final = (", *lines, ")\n"]))
    file.write_text(head + "".join(tables))


def main() -> None:
    """Prints the table of fits; see the module."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--history", action="append", type=Path, required=True)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    histories = {file.stem: read_history(file) for file in options.history}
    for fitted_on, history in histories.items():
        rank = partial(by_ownership, models=fitted([history]))
        for name, other in histories.items():
            print(f"fit on {fitted_on}, run on {name}: {told(shares(other, rank))}")
    if options.write:
        _write(fitted(list(histories.values())))


if __name__ == "__main__":
    main()
