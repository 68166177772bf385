"""The embedding cache of seed 000: the last thousand texts are not embedded again."""

from __future__ import annotations

import hashlib
import threading
import unicodedata
from collections.abc import Sequence

import numpy as np
from cachetools import LRUCache
from numpy.typing import NDArray

from memory.domain.ports import Embedder

CACHED_TEXTS = 1000


class CachedEmbedder:
    """An embedder that remembers the vectors of the `size` texts asked for last; thread-safe.

    Texts are embedded as the cache compares them, so that a vector depends on its text alone and
    not on which spelling came first.
    """

    def __init__(self, embedder: Embedder, *, size: int = CACHED_TEXTS) -> None:
        self.name = embedder.name
        self.opposition_similarity = embedder.opposition_similarity
        self._embedder = embedder
        self._vectors: LRUCache[bytes, NDArray[np.float32]] = LRUCache(size)
        self._lock = threading.Lock()

    @property
    def dimensions(self) -> int:
        """Those of the embedder behind; some learn it with their first answer."""
        return self._embedder.dimensions

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors, shape (len(texts), dimensions); only unknown texts are embedded, once each.

        Raises what the embedder behind raises; nothing of a failed batch is kept.
        """
        normalised = [normalise(text) for text in texts]
        keys = [hashlib.sha256(text.encode(errors="replace")).digest() for text in normalised]
        with self._lock:
            found = {key: self._vectors[key] for key in keys if key in self._vectors}
        missing = {
            key: text for key, text in zip(keys, normalised, strict=True) if key not in found
        }
        if missing:
            fresh = self._embedder.embed(list(missing.values()))
            # Copies: a row of the batch would keep the whole batch in memory.
            new = {key: row.copy() for key, row in zip(missing, fresh, strict=True)}
            found |= new
            with self._lock:
                self._vectors.update(new)
        if not keys:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        return np.stack([found[key] for key in keys])


def normalise(text: str) -> str:
    """The text in NFKC with its white space folded.

    Not `normalise_text` of the duplicate rules: a model reads case and punctuation, so "US" and
    "us", or a statement and its question, have vectors of their own.
    """
    return " ".join(unicodedata.normalize("NFKC", text).split())
