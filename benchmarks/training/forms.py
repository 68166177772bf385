"""Fits the reader's last answer, the form of a sentence, on the trained reader's own vectors.

Ridge regression, so the reader's other answers stay as they were trained.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import numpy_helper

from benchmarks.training.data import read_rows
from memory.understanding.encoder import Encoder
from memory.understanding.reading import FORM_FROM, FORMS, MAX_TOKENS, OUTPUTS, Line, alone

# By ten-fold cross-validation.
_RIDGE: Final = 300.0
_FOLDS: Final = 10
_HEAD: Final = ("head.weight", "head.bias")

Labelled = tuple[Line, str]
Matrix = NDArray[np.float64]


def read_forms(paths: Sequence[Path]) -> list[Labelled]:
    """Returns the labelled sentences of the files, in order; "" for no form."""
    return [
        (alone(row["text"]), row["kind"].replace("none", ""))
        for path in paths
        for row in read_rows(path)
    ]


def add_forms(path: Path, examples: Sequence[Labelled]) -> None:
    """Writes the answer into the reader's graph and prints how well it is cross-validated."""
    model = onnx.load(str(path))
    learnt = OUTPUTS - len(FORMS)
    weights, bias = (_values(model, name)[..., :learnt] for name in _HEAD)
    vectors = _vectors(model, path, [line for line, _ in examples])
    labels = np.array([FORMS.index(form) for _, form in examples])
    _print_folds(vectors, labels)
    more, offset = _fitted(vectors, labels)
    _set_head(model, np.hstack([weights, more]), np.hstack([bias, offset]))
    onnx.save(model, str(path))


def _vectors(model: onnx.ModelProto, path: Path, lines: Sequence[Line]) -> Matrix:
    """Returns what the head is given for each line."""
    size = _values(model, "head.weight").shape[0]
    bare = onnx.ModelProto()
    bare.CopyFrom(model)
    _set_head(bare, np.eye(size), np.zeros(size))
    other = path.with_name("vectors.onnx")
    onnx.save(bare, str(other))
    try:
        encoder = Encoder(other.name, max_tokens=MAX_TOKENS, folder=path.parent)
        return encoder.run([line.as_pair for line in lines]).astype(np.float64)
    finally:
        other.unlink()


def _fitted(vectors: Matrix, labels: NDArray[np.int64]) -> tuple[Matrix, Matrix]:
    """Returns weights, in columns, and bias: a score of about 1 for the right form, else 0."""
    mean, spread, wanted = vectors.mean(0), vectors.std(0), np.eye(len(FORMS))[labels]
    given = (vectors - mean) / spread
    share = np.linalg.solve(given @ given.T + _RIDGE * np.eye(len(given)), wanted - wanted.mean(0))
    weights = given.T @ share / spread[:, None]
    return weights, wanted.mean(0) - mean @ weights


def _print_folds(vectors: Matrix, labels: NDArray[np.int64]) -> None:
    folds = np.random.default_rng(0).permutation(len(labels)) % _FOLDS
    scores = np.zeros((len(labels), len(FORMS)))
    for fold in range(_FOLDS):
        weights, bias = _fitted(vectors[folds != fold], labels[folds != fold])
        scores[folds == fold] = vectors[folds == fold] @ weights + bias
    best = scores.argmax(1)
    for place, form in enumerate(FORMS):
        if form:
            told = (best == place) & (scores[:, place] >= FORM_FROM[form])
            right = (told & (labels == place)).sum()
            share, found = right / told.sum(), right / (labels == place).sum()
            print(f"{form}: of {told.sum()} told {share:.2f} right, {found:.2f} found")


def _values(model: onnx.ModelProto, name: str) -> Matrix:
    values: Matrix = numpy_helper.to_array(_initializer(model, name)).astype(np.float64)
    return values


def _set_head(model: onnx.ModelProto, weights: Matrix, bias: Matrix) -> None:
    for name, value in zip(_HEAD, (weights, bias), strict=True):
        tensor = numpy_helper.from_array(value.astype(np.float32), name)
        _initializer(model, name).CopyFrom(tensor)
    # The sizes that shape inference noted are of the former head.
    noted = [each for each in model.graph.value_info if not each.name.startswith("head")]
    model.graph.ClearField("value_info")
    model.graph.value_info.extend(noted)
    model.graph.output[0].type.tensor_type.shape.dim[1].dim_value = len(bias)


def _initializer(model: onnx.ModelProto, name: str) -> onnx.TensorProto:
    return next(each for each in model.graph.initializer if each.name == name)
