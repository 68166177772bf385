"""Runs the small models: a tokenizer, a shared word table and ONNX graphs on one thread each."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer

from routing.clients.embeddings import unit_rows
from routing.clients.protocol import EmbeddingError, FailureKind

WEIGHTS: Final = Path(__file__).parent / "weights"
_SCALE_BYTES: Final = 4

Texts = Sequence[str] | Sequence[tuple[str, str]]


class Encoder:
    """One ONNX graph with the shared tokenizer and word table; thread-safe.

    It takes texts or pairs of texts, of which at most `max_tokens` tokens are read.
    """

    def __init__(self, name: str, *, max_tokens: int, folder: Path = WEIGHTS) -> None:
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(max_tokens)
        self._session = session(folder / name)
        self._inputs = [each.name for each in self._session.get_inputs()]
        self._words = _word_table(folder / "words.npy")

    def run(self, texts: Texts) -> NDArray[np.float32]:
        """Returns a row of outputs for each text or pair, shape (len(texts), outputs).

        Each is run by itself: int8 graphs round by the largest value of what they are given, so a
        row would depend on its batch, and on one core a batch is no faster.
        """
        return np.concatenate(
            [self._run(each) for each in self._tokenizer.encode_batch(list(texts))]
        )

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


_GRAPHS: Final = ("model.onnx", "onnx/model.onnx")
_USUAL_TOKENS: Final = 512
_INPUTS: Final = frozenset({"input_ids", "attention_mask", "token_type_ids"})
# The vector of a text as it is, then those of its tokens: the first that the graph has.
_OUTPUTS: Final = ("sentence_embedding", "token_embeddings", "last_hidden_state")


class SentenceEncoder:
    """A sentence encoder of a folder, on the calling thread; thread-safe.

    Raises EmbeddingError with what is wrong with the folder.
    """

    def __init__(self, folder: Path) -> None:
        self._session = _session_in(folder)
        self._tokenizer = _tokenizer_in(folder)
        self._inputs = {each.name for each in self._session.get_inputs()}
        outputs = {each.name for each in self._session.get_outputs()}
        found = next((name for name in _OUTPUTS if name in outputs), None)
        if found is None or not self._inputs <= _INPUTS or "input_ids" not in self._inputs:
            raise _unusable(
                folder,
                f"its graph takes {sorted(self._inputs)} and gives {sorted(outputs)}: no sentence"
                " encoder has these",
            )
        self._output = found
        pooling = _read(folder / "1_Pooling/config.json")
        self._is_first_token = bool(pooling.get("pooling_mode_cls_token"))
        if not self._is_first_token and not pooling.get("pooling_mode_mean_tokens", True):
            raise _unusable(folder, "its tokens are pooled neither by their mean nor by the first")
        try:
            self.dimensions = len(self.encode("."))
        except Exception as error:  # onnxruntime has kinds of its own that share no base
            raise _unusable(folder, _line(error)) from error

    def encode(self, text: str) -> NDArray[np.float32]:
        """Returns the unit vector of a text, shape (dimensions,)."""
        found = self._tokenizer.encode(text)
        given = {
            "input_ids": found.ids,
            "attention_mask": found.attention_mask,
            "token_type_ids": found.type_ids,
        }
        asked = {name: np.asarray([given[name]], dtype=np.int64) for name in self._inputs}
        (output,) = self._session.run([self._output], asked)
        vectors = np.asarray(output, dtype=np.float32)
        if vectors.ndim == 3:
            vectors = vectors[:, 0] if self._is_first_token else vectors.mean(axis=1)
        vector: NDArray[np.float32] = unit_rows(vectors)[0]
        return vector


def _session_in(folder: Path) -> onnxruntime.InferenceSession:
    path = next((folder / name for name in _GRAPHS if (folder / name).is_file()), None)
    if path is None:
        raise _unusable(folder, f"it holds neither {' nor '.join(_GRAPHS)}")
    try:
        return session(path)
    except Exception as error:  # onnxruntime has kinds of its own that share no base
        raise _unusable(folder, _line(error)) from error


def _tokenizer_in(folder: Path) -> Tokenizer:
    path = folder / "tokenizer.json"
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the bare kind is what the library raises
        raise _unusable(folder, f"tokenizer.json: {_line(error)}") from error
    usual = (tokenizer.truncation or {}).get("max_length", _USUAL_TOKENS)
    tokenizer.no_padding()
    tokenizer.enable_truncation(
        _read(folder / "sentence_bert_config.json").get("max_seq_length") or usual
    )
    return tokenizer


def _read(path: Path) -> dict[str, Any]:  # Any: a document of JSON
    return dict(json.loads(path.read_text())) if path.is_file() else {}


def _line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0][:200]


def _unusable(folder: Path, problem: str) -> EmbeddingError:
    return EmbeddingError(
        f"No sentence encoder can be read from {folder}: {problem}.",
        kind=FailureKind.MISCONFIGURED,
    )
