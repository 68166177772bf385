"""Runs the small models: a tokenizer, a shared word table and ONNX graphs on one thread each."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer

WEIGHTS: Final = Path(__file__).parent / "weights"
_SCALE_BYTES: Final = 4
# No usual token is as long. The tokenizer makes encodings of all that it truncates, and of a pair
# one for each part of the one with each part of the other: gigabytes for two long texts.
_TOKEN_CHARS: Final = 20

Texts = Sequence[str] | Sequence[tuple[str, str]]


class Encoder:
    """One ONNX graph with the shared tokenizer and word table; thread-safe.

    It takes texts or pairs of texts, of which at most `max_tokens` tokens are read.
    """

    def __init__(self, name: str, *, max_tokens: int, folder: Path = WEIGHTS) -> None:
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(max_tokens)
        self._most_chars = max_tokens * _TOKEN_CHARS
        self._session = session(folder / name)
        self._inputs = [each.name for each in self._session.get_inputs()]
        self._words = _word_table(folder / "words.npy")

    def run(self, texts: Texts) -> NDArray[np.float32]:
        """Returns a row of outputs for each text or pair, shape (len(texts), outputs).

        Each is run by itself: int8 graphs round by the largest value of what they are given, so a
        row would depend on its batch, and on one core a batch is no faster.
        """
        most = self._most_chars
        read = [
            each[:most] if isinstance(each, str) else (each[0][:most], each[1][:most])
            for each in texts
        ]
        return np.concatenate([self._run(each) for each in self._tokenizer.encode_batch(read)])

    def _run(self, encoding: Encoding) -> NDArray[np.float32]:
        ids, mask, types = padded([encoding])
        given = {"words": self._vectors(ids), "mask": mask, "types": types}
        (output,) = self._session.run(None, {name: given[name] for name in self._inputs})
        return np.asarray(output, dtype=np.float32)

    def _vectors(self, ids: NDArray[np.int64]) -> NDArray[np.float32]:
        rows = self._words[ids]
        scale = np.ascontiguousarray(rows[..., :_SCALE_BYTES]).view(np.float32)
        return rows[..., _SCALE_BYTES:].astype(np.float32) * scale


def padded(
    encodings: Sequence[Encoding],
) -> tuple[NDArray[np.int64], NDArray[np.float32], NDArray[np.float32]]:
    """Returns token ids, mask and segment numbers, each of shape (texts, longest)."""
    longest = max(len(each) for each in encodings)
    ids = np.zeros((len(encodings), longest), np.int64)
    mask, types = np.zeros(ids.shape, np.float32), np.zeros(ids.shape, np.float32)
    for place, each in enumerate(encodings):
        ids[place, : len(each)] = each.ids
        mask[place, : len(each)] = 1.0
        types[place, : len(each)] = each.type_ids
    return ids, mask, types


def session(path: Path) -> onnxruntime.InferenceSession:
    """Opens an ONNX graph that runs on the calling thread, so that it survives a fork."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = False
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


@cache
def _word_table(path: Path) -> NDArray[np.int8]:
    # Mapped: all processes of a machine share its pages.
    table: NDArray[np.int8] = np.load(path, mmap_mode="r")
    return table
