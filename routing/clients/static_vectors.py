"""Static word vectors from the wordllama package: no network, about 0.05 ms a text."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
import wordllama
from numpy.typing import NDArray

DIMENSIONS = 256


def static_vectors(texts: Sequence[str]) -> NDArray[np.float32]:
    """Unit vectors, shape (len(texts), 256); a text without known words is a zero vector.

    Thread-safe.
    """
    if not texts:
        return np.zeros((0, DIMENSIONS), dtype=np.float32)
    return unit_rows(np.asarray(load_model().embed(list(texts), norm=False), dtype=np.float32))


def unit_rows(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Each row at length 1; a zero row stays zero."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: NDArray[np.float32] = np.divide(
        vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0
    )
    return unit


@cache
def load_model() -> wordllama.WordLlamaInference:
    """The model, one a process, from the weights and tokenizer inside the package."""
    folder = Path(wordllama.__file__).parent
    model = wordllama.WordLlama.load(cache_dir=folder, dim=DIMENSIONS, disable_download=True)
    # The tokenizer would keep ten thousand whole texts a thread, 65 MB in all; the cache of
    # vectors answers for texts that come again.
    model.tokenizer.model._resize_cache(0)
    return model
