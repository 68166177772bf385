"""An embedder whose vectors a test can foresee, and memories stored with it in one go."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory.understanding.tools import Tools
from routing.clients.protocol import EmbeddingError, FailureKind
from teams.errors import UnavailableError

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
UNREADABLE = "?!"


class RandomEmbedder:
    """Gives each text a unit vector of its own, always the same; zeros to the unreadable one."""

    opposition_similarity = 0.3

    def __init__(self, *, dimensions: int = 32, name: str = "") -> None:
        self.dimensions = dimensions
        self.name = name or f"random@{dimensions}"

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.stack([self._vector(text) for text in texts])

    def _vector(self, text: str) -> NDArray[np.float32]:
        if text == UNREADABLE:
            return np.zeros(self.dimensions, dtype=np.float32)
        seed = int.from_bytes(hashlib.sha256(f"{self.name}|{text}".encode()).digest()[:8])
        vector = np.random.default_rng(seed).normal(size=self.dimensions)
        return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)


def random_tools(tools: Tools, *, dimensions: int = 32, name: str = "") -> Tools:
    """The tools with random vectors in the place of real ones."""
    return replace(tools, embedder=RandomEmbedder(dimensions=dimensions, name=name))


class OrthogonalEmbedder:
    """Gives every text a direction of its own, so that no two are near."""

    name = "orthogonal"
    dimensions = 64
    opposition_similarity = 0.9

    def __init__(self) -> None:
        self._seen: dict[str, int] = {}
        self._lock = Lock()

    def embed(self, texts: Sequence[str]) -> Any:
        """Unit vectors along different axes."""
        import numpy as np

        rows = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            with self._lock:
                axis = self._seen.setdefault(text, len(self._seen))
            row[axis % self.dimensions] = 1.0
        return rows


class RefusingEmbedder(RandomEmbedder):
    """An embedder whose model refuses every batch with that word in it, `times` times."""

    def __init__(self, word: str, times: int = 1_000) -> None:
        super().__init__()
        self._word, self._times = word, times

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors; raises as an endpoint does that answers 400."""
        if self._times and any(self._word in text for text in texts):
            self._times -= 1
            raise EmbeddingError("refused", kind=FailureKind.MISCONFIGURED)
        return super().embed(texts)


class AwayEmbedder(OrthogonalEmbedder):
    """An embedder that does not answer."""

    def embed(self, texts: Sequence[str]) -> Any:
        """Fails."""
        raise UnavailableError("The embedder does not answer.")
