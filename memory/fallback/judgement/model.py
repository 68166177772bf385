"""The fitted linear model of the judge: findings on a pair to shares of the four verdicts."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memory.domain.types import Verdict

from .features import features_of
from .pairing import Pair

VERDICTS: Final = (Verdict.SUPERSEDE, Verdict.DISPUTE, Verdict.COEXIST, Verdict.DUPLICATE)
WEIGHTS_FILE: Final = Path(__file__).parent / "weights.json"
# A finding further from its mean than this many deviations says no more.
MOST_DEVIATIONS: Final = 4.0
# Products of directions are small beside the directions themselves.
_PRODUCT_SCALE = 5.0

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Model:
    """Weights for VERDICTS, made by benchmarks/judge_fit.py.

    `names` are findings, each with its `centre`, `scale` and row of `weights`. `mean` and `axes`
    turn the vectors of left-over words into directions, with a row of `direction_weights` for
    each entry of `directions`.
    """

    names: tuple[str, ...]
    centre: Array
    scale: Array
    weights: Array
    bias: Array
    mean: Array
    axes: Array
    direction_weights: Array

    def shares(self, pair: Pair) -> dict[Verdict, float]:
        """How likely each verdict is; the shares sum to 1."""
        found = features_of(pair)
        sizes = np.array([found.get(name, 0.0) for name in self.names])
        scores = standardised(sizes, self.centre, self.scale) @ self.weights + self.bias
        left = np.stack(left_over(pair))
        scores = scores + directions(left, self.mean, self.axes) @ self.direction_weights
        odds = np.exp(scores - scores.max())
        shares = odds / odds.sum()
        return dict(zip(VERDICTS, shares.tolist(), strict=True))


@cache
def fitted_model() -> Model:
    """The model of weights.json."""
    stored = json.loads(WEIGHTS_FILE.read_text(encoding="utf-8"))
    names = tuple(stored["findings"])
    table = np.array([stored["findings"][name] for name in names])
    return Model(
        names=names,
        centre=table[:, 0],
        scale=table[:, 1],
        weights=table[:, 2:],
        bias=np.array(stored["bias"]),
        mean=np.array(stored["mean"]),
        axes=np.array(stored["axes"]),
        direction_weights=np.array(stored["directions"]),
    )


def standardised(sizes: Array, centre: Array, scale: Array) -> Array:
    """Findings in deviations from their mean, bounded."""
    bounded: Array = ((sizes - centre) / scale).clip(-MOST_DEVIATIONS, MOST_DEVIATIONS)
    return bounded


def left_over(pair: Pair) -> tuple[Array, Array]:
    """The unit vectors of what only the existing and what only the new statement says."""
    return _unit(pair.old.mean(pair.old_left)), _unit(pair.new.mean(pair.new_left))


def directions(left: Array, mean: Array, axes: Array) -> Array:
    """How two left-over vectors, the second last axis of `left`, lie to each other on each axis."""
    placed = (left - mean) @ axes
    old, new = placed[..., 0, :], placed[..., 1, :]
    parts = [old * new * _PRODUCT_SCALE, np.abs(old - new), old, new]
    joined: Array = np.concatenate(parts, axis=-1)
    return joined


def _unit(vector: NDArray[np.float32]) -> Array:
    length = float(np.linalg.norm(vector))
    unit: Array = vector.astype(np.float64) / (length + 1e-6)
    return unit
