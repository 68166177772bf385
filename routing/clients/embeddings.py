"""Vectors of texts: static ones of wordllama, or those of an OpenAI-compatible endpoint."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
import openai
import wordllama
from numpy.typing import NDArray
from openai.types import CreateEmbeddingResponse

from .endpoints import (
    begin_call,
    describe,
    failure_kind,
    note_usage,
    open_client,
    settings_problem,
)
from .protocol import EmbeddingError, FailureKind

logger = logging.getLogger(__name__)

# Of a static vector.
DIMENSIONS = 256
# The protocol's own limit on the texts of one request.
MAX_BATCH = 2048
# Below 8,192 tokens, the protocol's limit on one text, in every script.
_SURE_CHARS = 6_000


def static_vectors(texts: Sequence[str]) -> NDArray[np.float32]:
    """Unit vectors, shape (len(texts), 256); a zero vector for a text without known words."""
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
    """The static model, one per process, from the weights and tokenizer inside the package."""
    folder = Path(wordllama.__file__).parent
    model = wordllama.WordLlama.load(cache_dir=folder, dim=DIMENSIONS, disable_download=True)
    # The tokenizer would keep ten thousand whole texts a thread, 65 MB in all; the cache of
    # vectors answers for texts that come again.
    model.tokenizer.model._resize_cache(0)
    return model


class TextEmbeddings:
    """Asks one embedding model of one endpoint; thread-safe.

    Texts are sent in batches of `batch_size` (1 to 2,048). `timeout`, `max_retries`, `base_url` and
    `api_key` are as for `StructuredCompletions`. `dimensions` 0 leaves the size to the model. Wrong
    settings are reported by `embed`.
    """

    def __init__(
        self,
        *,
        base_url: str,
        api_key: str,
        model: str,
        dimensions: int = 0,
        batch_size: int = 100,
        timeout: float = 60.0,
        max_retries: int = 4,
    ) -> None:
        if not 1 <= batch_size <= MAX_BATCH:
            raise ValueError(f"batch_size must be from 1 to {MAX_BATCH}")
        self.model = model
        self._dimensions = dimensions
        self._batch_size = batch_size
        self._problem = settings_problem(
            base_url=base_url, api_key=api_key, model=model, prefix="EMBEDDING"
        )
        self._client = open_client(
            base_url="" if self._problem else base_url,
            api_key=api_key,
            timeout=timeout,
            max_retries=max_retries,
        )

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The model's vectors in order, shape (len(texts), dimensions); raises EmbeddingError."""
        if self._problem:
            raise EmbeddingError(self._problem, kind=FailureKind.MISCONFIGURED)
        batches = [
            self._batch(texts[start : start + self._batch_size])
            for start in range(0, len(texts), self._batch_size)
        ]
        if not batches:
            return np.zeros((0, self._dimensions), dtype=np.float32)
        if len({batch.shape[1] for batch in batches}) > 1:
            raise self._malformed("vectors of different sizes")
        return np.concatenate(batches)

    def _batch(self, texts: Sequence[str]) -> NDArray[np.float32]:
        started = time.monotonic()
        with begin_call(self._client, operation="embeddings", model=self.model) as made:
            response = self._request(texts)
            tokens = response.usage.total_tokens if response.usage else None
            if tokens is not None:
                note_usage(made, read=tokens)
        logger.info(
            "model=%s texts=%d tokens=%s seconds=%.2f",
            *(self.model, len(texts), tokens, time.monotonic() - started),
        )
        return self._vectors(response, count=len(texts))

    def _request(self, texts: Sequence[str]) -> CreateEmbeddingResponse:
        try:
            try:
                return self._create(texts)
            except openai.APIStatusError as error:
                # Endpoints say "too long" in many ways, and one long text must not cost the batch.
                is_long = any(len(text) > _SURE_CHARS for text in texts)
                if not is_long or error.status_code not in {400, 413, 422}:
                    raise
            logger.info("model=%s asked again with shorter texts", self.model)
            return self._create([text[:_SURE_CHARS] for text in texts])
        except openai.OpenAIError as error:
            message = f"{self.model}: {describe(error)}"
            raise EmbeddingError(message, kind=failure_kind(error)) from None

    def _create(self, texts: Sequence[str]) -> CreateEmbeddingResponse:
        try:
            response: object = self._client.embeddings.create(
                model=self.model, input=list(texts), dimensions=self._dimensions or openai.omit
            )
        except UnicodeEncodeError:
            raise EmbeddingError(
                "The API key or a text holds characters that cannot be sent.",
                kind=FailureKind.MISCONFIGURED,
            ) from None
        except (ValueError, TypeError, AttributeError):
            # What the client's parser raises for a page, an error object or an empty list.
            raise self._malformed("no vectors in the response") from None
        if not isinstance(response, CreateEmbeddingResponse):
            raise self._malformed("no JSON in the response")
        return response

    def _vectors(self, response: CreateEmbeddingResponse, *, count: int) -> NDArray[np.float32]:
        rows = sorted(response.data, key=lambda row: row.index)
        if [row.index for row in rows] != list(range(count)):
            raise self._malformed(f"{len(rows)} vectors for {count} texts")
        try:
            vectors = np.asarray([row.embedding for row in rows], dtype=np.float32)
        except (ValueError, TypeError):
            raise self._malformed("vectors of different sizes") from None
        if vectors.ndim != 2 or not vectors.shape[1] or not np.isfinite(vectors).all():
            raise self._malformed("vectors that cannot be used")
        if not vectors.any(axis=1).all():
            raise self._malformed("vectors of nothing but zeros")
        if self._dimensions and vectors.shape[1] != self._dimensions:
            raise EmbeddingError(
                f"{self.model} gives {vectors.shape[1]} dimensions whatever is asked for; set"
                f" EMBEDDING_DIMENSIONS to 0 or {vectors.shape[1]}.",
                kind=FailureKind.MISCONFIGURED,
            )
        return vectors

    def _malformed(self, problem: str) -> EmbeddingError:
        return EmbeddingError(f"{self.model}: {problem}", kind=FailureKind.MALFORMED)
