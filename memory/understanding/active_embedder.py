"""The embedder whose vectors the stored memories have, whatever the settings ask for."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from memory.models import EmbeddingState
from memory.understanding.embedders import EmbedderSpec, build_embedder, spec_of
from memory.understanding.ports import Embedder
from routing.clients.protocol import EmbeddingError, FailureKind
from teams.errors import UnavailableError

logger = logging.getLogger(__name__)

# How long a process may go on with what it last knew; a switch keeps the old vectors far longer.
STATE_SECONDS = 1.0


class ActiveEmbedder:
    """Embeds with the model that searches use at this moment; thread-safe.

    That is the one in `EmbeddingState`, and the configured one while there is no memory yet. A
    switch may come at any time, so `name`, `dimensions` and `opposition_similarity` are those of
    the calling thread's last `embed`: a vector and the name read after it belong together.
    """

    def __init__(
        self,
        *,
        configured: EmbedderSpec,
        read_state: Callable[[], EmbeddingState | None] = EmbeddingState.objects.first,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._configured = configured
        self._read_state = read_state
        self._monotonic = monotonic
        self._built: dict[str, Embedder] = {}
        self._building = threading.Lock()
        self._known: tuple[float, EmbeddingState | None] | None = None
        self._thread = threading.local()

    @property
    def name(self) -> str:
        return self._last().name

    @property
    def active_name(self) -> str | None:
        """The name of the model that the next `embed` uses; None while it is not set up."""
        try:
            return self._active().name
        except EmbeddingError:
            return None

    @property
    def dimensions(self) -> int:
        return self._last().dimensions

    @property
    def opposition_similarity(self) -> float:
        return self._last().opposition_similarity

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors of the active model, shape (len(texts), dimensions).

        Raises UnavailableError when the model does not answer, is not set up or gives what cannot
        be used, and says which.
        """
        try:
            embedder = self._active()
            vectors = embedder.embed(texts)
            self._check_size(embedder, vectors)
        except EmbeddingError as error:
            passing = error.kind is FailureKind.UNAVAILABLE
            logger.log(logging.WARNING if passing else logging.ERROR, "No embeddings: %s", error)
            problem = "does not answer" if passing else f"cannot be used: {str(error).rstrip('.')}"
            raise UnavailableError(
                f"The embedding model {problem}; nothing was changed."
            ) from error
        self._thread.embedder = embedder
        return vectors

    def next_vectors(self, texts: Sequence[str]) -> tuple[str, NDArray[np.float32]] | None:
        """The name and vectors of the model that a reembedding under way goes to.

        None when there is none, when it is not the configured one, or when it does not answer:
        the reembedding finds what lacks its vector before it switches.
        """
        state = self._state()
        if state is None or state.next_model != self._configured.name:
            return None
        try:
            return state.next_model, self._named(state.next_model).embed(texts)
        except EmbeddingError as error:
            logger.warning("No vectors of the next model for new memories: %s", error)
            return None

    def remember_first_model(self) -> None:
        """Record the model of the first memories: later settings are compared with it."""
        if self._state() is None:
            EmbeddingState.objects.bulk_create(
                [EmbeddingState(model=self.name, dimensions=self.dimensions)],
                ignore_conflicts=True,
            )
            self._known = None

    def _last(self) -> Embedder:
        try:
            embedder: Embedder = getattr(self._thread, "embedder", None) or self._active()
        except EmbeddingError as error:
            raise UnavailableError("The embedding model is not set up.") from error
        return embedder

    def _active(self) -> Embedder:
        state = self._state()
        return self._named(state.model if state else self._configured.name)

    def _check_size(self, embedder: Embedder, vectors: NDArray[np.float32]) -> None:
        state = self._state()
        if state is None or state.model != embedder.name or not len(vectors):
            return
        if vectors.shape[1] != state.dimensions:
            raise EmbeddingError(
                f"{embedder.name} now gives {vectors.shape[1]} dimensions and the memories have"
                f" {state.dimensions}: set EMBEDDING_DIMENSIONS={vectors.shape[1]} and run"
                " «manage.py reembed».",
                kind=FailureKind.MISCONFIGURED,
            )

    def _state(self) -> EmbeddingState | None:
        now = self._monotonic()
        known = self._known
        if known is None or now - known[0] > STATE_SECONDS:
            known = self._known = (now, self._read_state())
        return known[1]

    def _named(self, name: str) -> Embedder:
        with self._building:
            embedder = self._built.get(name)
            if embedder is None:
                spec = self._configured if name == self._configured.name else spec_of(name)
                embedder = self._built[name] = build_embedder(spec)
        return embedder
