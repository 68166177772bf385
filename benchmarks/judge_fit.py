"""Fits the model-free judge on the labelled pairs and says how well it does on unseen ones.

`python -m benchmarks.judge_fit [--ablation] [--write]`

Cross-validation keeps pairs of one source together: each source is judged by a model that saw
none of it. The second figure keeps runs of pairs together that were made in one go. Pairs of
different things in one sentence frame are made from the labelled ones (benchmarks/judge_data.py).
`--ablation` leaves each feature module out in turn. `--write` only writes the weights, the same
to the last digit whatever the number of threads.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression

from benchmarks.contradictions import CONFLICTS, score
from benchmarks.contradictions import Pair as Example
from benchmarks.judge_data import (
    Reader,
    labelled_examples,
    neighbours_in_store,
    neighbours_in_talk,
    other_things,
)
from memory.domain.types import Verdict
from memory.fallback.judgement.features import MODULES, features_of
from memory.fallback.judgement.model import (
    VERDICTS,
    WEIGHTS_FILE,
    Array,
    Model,
    directions,
    left_over,
    standardised,
)
from memory.fallback.judgement.pairing import Features
from memory.fallback.judgement.subjects import strangers
from memory.fallback.judgement.verdicts import SURE_OF_CONFLICT, change_told, decide

# Composed item by item, unlike the two large files.
DOUBLED: Final = frozenset({"cd", "cn", "ct", "cf2", "ch2", "cw2"})
WEAK, TURNED = 0.7, 0.5
# In a store nearly all pairs are of this kind, so they count more than others.
TALK = 2.0
STRENGTH: Final = 0.05
AXES: Final = 32
_DIRECTION_SCALE: Final = 0.3
_RARE: Final = 5
_FOLDS: Final = 8
_DECIMALS: Final = 4


@dataclass(frozen=True, slots=True)
class Found:
    """What is found about an example, kept so that it is found once."""

    example: Example
    features: Features
    left: Array


class Bench:
    """The examples with their findings."""

    def __init__(self) -> None:
        self.reader = Reader()
        examples = labelled_examples()
        self.labelled = [self.found(each) for each in examples]
        self.turned = [
            self.found(_turned(each)) for each in examples if each.label is not Verdict.SUPERSEDE
        ]
        self.frames = [self.found(each) for each in other_things(examples, self.reader)]
        self.near = [self.found(each) for each in neighbours_in_store(examples)]
        self.talk = [self.found(each) for each in neighbours_in_talk()]

    def found(self, example: Example) -> Found:
        """The findings on one example."""
        pair = self.reader.pair(example)
        return Found(example, features_of(pair), _rounded(np.stack(left_over(pair))))

    def training(self, *, without: Callable[[Example], bool]) -> list[tuple[Found, float]]:
        """Examples with their weights, but for those of which `without` is true."""
        sets = (
            (self.labelled, 1.0),
            (self.turned, TURNED),
            (self.frames, WEAK),
            (self.near, WEAK),
            (self.talk, TALK),
        )
        return [
            (each, weight * (2 if each.example.source in DOUBLED and weight != WEAK else 1))
            for examples, weight in sets
            for each in examples
            if not without(each.example)
        ]

    def verdict(self, model: Model, found: Found) -> Verdict:
        """What the judge says with this model."""
        pair = self.reader.pair(found.example)
        if strangers(pair) and not change_told(pair.new):
            return Verdict.COEXIST
        return decide(pair=pair, shares=model.shares(pair)).verdict


def fit(
    training: Sequence[tuple[Found, float]], *, without_module: str = "", solver: str = "lbfgs"
) -> Model:
    """A model of the weighted examples, rounded as it is stored.

    L-BFGS is quick, but where it stops depends on the number of threads. "newton-cholesky" ends at
    the optimum itself, so the rounded weights depend on the examples alone.
    """
    found = [each for each, _ in training]
    counts = Counter(name for each in found for name in each.features)
    names = tuple(
        name
        for name in sorted(counts)
        if counts[name] >= _RARE and name.partition(":")[0] != without_module
    )
    table = np.array([[each.features.get(name, 0.0) for name in names] for each in found])
    left = np.stack([each.left for each in found])
    pca = PCA(AXES, svd_solver="full").fit(left.reshape(-1, left.shape[-1]))
    mean, axes = _rounded(pca.mean_), _rounded(pca.components_.T)
    centre, scale = _rounded(table.mean(0)), _rounded(table.std(0)) + 10.0**-_DECIMALS
    placed = directions(left, mean, axes)
    size, middle = _DIRECTION_SCALE / placed.std(0), placed.mean(0)
    if without_module == "directions":
        size = size * 0
    design = np.hstack([standardised(table, centre, scale), (placed - middle) * size])
    labels = np.array([VERDICTS.index(each.example.label) for each in found])
    precision = 1e-6 if solver == "lbfgs" else 1e-12
    regression = LogisticRegression(C=STRENGTH, max_iter=1_000, solver=solver, tol=precision)
    regression.fit(design, labels, sample_weight=np.array([weight for _, weight in training]))
    weights, rest = np.split(regression.coef_.T, [len(names)])
    rest = rest * size[:, None]
    return Model(
        names=names,
        centre=centre,
        scale=_rounded(scale),
        weights=_rounded(weights),
        bias=_rounded(regression.intercept_ - middle @ rest),
        mean=mean,
        axes=axes,
        direction_weights=_rounded(rest),
    )


@dataclass(slots=True)
class Tally:
    """Labels with verdicts."""

    rows: list[tuple[Example, Verdict]]

    def __str__(self) -> str:
        labels, verdicts = zip(*((e.label, v) for e, v in self.rows if not e.is_weak), strict=True)
        retired = [a for a, b in zip(labels, verdicts, strict=True) if b is Verdict.SUPERSEDE]
        lost = sum(label not in CONFLICTS for label in retired) / max(1, len(retired))
        text = f"{score(labels=labels, verdicts=verdicts)}  retired wrongly {lost:.3f}"
        for name, is_talk in (("frames", False), ("talk", True)):
            weak = [v for e, v in self.rows if e.is_weak and (e.source == "talk") is is_talk]
            if weak:
                text += f"  {name} {sum(v in CONFLICTS for v in weak) / len(weak):.3f}"
        return text

    def of(self, sources: frozenset[str]) -> Tally:
        """The part of it from these sources."""
        return Tally([(each, verdict) for each, verdict in self.rows if each.source in sources])


def cross_validate(bench: Bench, *, group: Callable[[Example], str], without: str = "") -> Tally:
    """Each group judged by a model that saw none of it."""
    everything = [*bench.labelled, *bench.frames, *bench.near, *bench.talk]
    rows: list[tuple[Example, Verdict]] = []
    for held in sorted({group(each.example) for each in everything}):
        training = bench.training(without=lambda each, held=held: group(each) == held)  # type: ignore[misc]
        model = fit(training, without_module=without)
        rows += [
            (each.example, bench.verdict(model, each))
            for each in everything
            if group(each.example) == held
        ]
    return Tally(rows)


def by_block(example: Example) -> str:
    """One of _FOLDS groups; pairs made in one go are in one group."""
    name, _, number = example.block.rpartition("-")
    return str((int(number) if number.isdigit() else sum(map(ord, number + name))) % _FOLDS)


def write(model: Model) -> None:
    """Store the weights, one finding a line."""
    table = np.column_stack([model.centre, model.scale, model.weights]).tolist()
    stored = {
        "bias": model.bias.tolist(),
        "findings": dict(zip(model.names, table, strict=True)),
        "mean": model.mean.tolist(),
        "axes": model.axes.tolist(),
        "directions": model.direction_weights.tolist(),
    }
    lines = []
    for key, part in stored.items():
        if isinstance(part, dict):
            inner = ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in part.items())
            lines.append(f"{json.dumps(key)}: {{\n{inner}\n}}")
        elif isinstance(part[0], list):
            inner = ",\n".join(json.dumps(row) for row in part)
            lines.append(f"{json.dumps(key)}: [\n{inner}\n]")
        else:
            lines.append(f"{json.dumps(key)}: {json.dumps(part)}")
    WEIGHTS_FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def main() -> None:
    """Print the figures that the arguments ask for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ablation", action="store_true")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    bench = Bench()
    if arguments.write:
        write(fit(bench.training(without=lambda _: False), solver="newton-cholesky"))
        return
    counts = [len(each) for each in (bench.labelled, bench.frames, bench.near, bench.talk)]
    print("labelled {}, frames {}, neighbours {}, in talk {}".format(*counts))
    print(f"a conflict takes {SURE_OF_CONFLICT}")
    tally = cross_validate(bench, group=lambda pair: pair.source)
    print("unseen sources  ", tally)
    print("  of them composed", tally.of(DOUBLED))
    tally = cross_validate(bench, group=by_block)
    print("unseen runs     ", tally)
    print("  of them composed", tally.of(DOUBLED))
    if arguments.ablation:
        for module in (*MODULES, "products", "directions"):
            print(f"without {module:12}", cross_validate(bench, group=by_block, without=module))


def _turned(example: Example) -> Example:
    """The pair in the other order; the days between them stay positive."""
    one, other = example.existing, example.new
    return replace(
        example,
        id=f"{example.id}<",
        existing=replace(other, at=one.at),
        new=replace(one, at=other.at),
    )


def _rounded(numbers: Array) -> Array:
    return np.asarray(np.round(numbers, _DECIMALS), dtype=np.float64)


if __name__ == "__main__":
    main()
