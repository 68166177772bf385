"""The linear model that admits statements and files them by type."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from memory.domain.types import MemoryType

TYPES = (
    MemoryType.SEMANTIC,
    MemoryType.EPISODIC,
    MemoryType.PROCEDURAL,
    MemoryType.USER_PROFILE,
)
WEIGHTS = Path(__file__).parent / "weights.json"
_CONSTANT = "constant"


@dataclass(frozen=True, slots=True)
class Model:
    """Weights of features: for being worth keeping, and for each type in the order of TYPES.

    A statement is admitted from `bar` on, one that was asked to be remembered from `bar_pinned`.
    """

    weights: Mapping[str, tuple[float, ...]]
    bar: float
    bar_pinned: float

    def worth(self, evidence: Collection[str]) -> float:
        """How much speaks for keeping a statement, as log odds."""
        return self._sum(evidence, 0)

    def kind(self, evidence: Collection[str]) -> MemoryType:
        """The type that the evidence speaks for most."""
        scores = [self._sum(evidence, 1 + number) for number in range(len(TYPES))]
        return TYPES[max(range(len(TYPES)), key=scores.__getitem__)]

    def _sum(self, evidence: Collection[str], column: int) -> float:
        weights = self.weights
        found = (weights[name][column] for name in evidence if name in weights)
        return weights[_CONSTANT][column] + sum(found)


def model_of(data: Mapping[str, Any]) -> Model:  # Any: parsed JSON
    """The model that a weights file holds."""
    weights = {name: tuple(map(float, row)) for name, row in data["weights"].items()}
    return Model(weights, float(data["bar"]), float(data["bar_pinned"]))


def data_of(
    names: Sequence[str], rows: Sequence[Sequence[float]], *, bar: float, bar_pinned: float
) -> dict[str, Any]:  # Any: to be written as JSON
    """The weights file of a fit; the last row is the constant."""
    named = zip([*names, _CONSTANT], rows, strict=True)
    weights = {name: [round(value, 3) + 0.0 for value in row] for name, row in named}
    return {"bar": bar, "bar_pinned": bar_pinned, "weights": dict(sorted(weights.items()))}


@cache
def shipped_model() -> Model:
    """The model whose weights lie beside this module."""
    return model_of(json.loads(WEIGHTS.read_text(encoding="utf-8")))
