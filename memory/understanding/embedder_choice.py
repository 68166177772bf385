"""Chooses and builds the embedder that a stored name or the settings ask for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from memory.understanding.embedders import (
    TRANSFORMER_OPPOSITION,
    CachedEmbedder,
    OnnxEmbedder,
    OpenAIEmbedder,
    WordLlamaEmbedder,
)
from memory.understanding.encoder import Encoder
from memory.understanding.ports import Embedder
from memory.understanding.sentence_encoder import SentenceEncoder
from routing.clients.embeddings import TextEmbeddings
from routing.clients.protocol import EmbeddingError, FailureKind

ONNX, WORDLLAMA, OPENAI = PROVIDERS = ("onnx", "wordllama", "openai")
MINILM = "all-MiniLM-L6-v2"
# As its vectors are named.
BUILT_IN = f"{ONNX}/{MINILM}"
_MINILM_DIMENSIONS = 384
# Its makers trained it on no longer texts.
_MINILM_TOKENS = 256
_DEFAULT_MODELS = {
    ONNX: MINILM,
    WORDLLAMA: "l2_supercat_256",
    OPENAI: "text-embedding-3-small",
}
# Asking for a model's own size changes nothing, so it must not look like another model.
_OWN_DIMENSIONS = {
    MINILM: _MINILM_DIMENSIONS,
    "l2_supercat_256": 256,
    "text-embedding-3-small": 1536,
    "text-embedding-3-large": 3072,
    "text-embedding-ada-002": 1536,
}
_MAX_NAME = 200


@dataclass(frozen=True, slots=True)
class EmbedderSpec:
    """An embedder by provider, model and asked size; `dimensions` 0 is the model's own.

    A model of the provider `onnx` is the built-in one or the path of a folder.
    """

    provider: str
    model: str
    dimensions: int = 0

    @property
    def name(self) -> str:
        """How vectors say whose they are: `openai/text-embedding-3-small@512`."""
        size = f"@{self.dimensions}" if self.dimensions else ""
        return f"{self.provider}/{self.model}{size}"


def spec_of(name: str) -> EmbedderSpec:
    """The embedder that a vector's model name means.

    Raises EmbeddingError for a name of no known provider.
    """
    provider, _, rest = name.partition("/")
    model, at, size = rest.rpartition("@")
    if not at or not size.isdecimal():
        model, size = rest, "0"
    if provider not in PROVIDERS or not model:
        raise EmbeddingError(
            f"No embedder of this version makes vectors of {name!r}.",
            kind=FailureKind.MISCONFIGURED,
        )
    return EmbedderSpec(provider, model, int(size))


def configured_spec() -> EmbedderSpec:
    """The embedder that the settings ask for."""
    provider: str = settings.EMBEDDING_PROVIDER
    model = settings.EMBEDDING_MODEL or _DEFAULT_MODELS[provider]
    dimensions = settings.EMBEDDING_DIMENSIONS
    if dimensions == _OWN_DIMENSIONS.get(model):
        dimensions = 0
    return EmbedderSpec(provider, model, dimensions)


def build_embedder(spec: EmbedderSpec) -> Embedder:
    """The embedder behind its cache.

    Another model than the configured one is asked at EMBEDDING_PREVIOUS_BASE_URL. Raises
    EmbeddingError for what no embedder can give.
    """
    if len(spec.name) > _MAX_NAME:
        raise _impossible(f"EMBEDDING_MODEL may have {_MAX_NAME} characters with its provider.")
    if spec.provider == OPENAI:
        return CachedEmbedder(_openai(spec))
    if spec.dimensions:
        raise _impossible(f"{spec.provider} gives its models' own size: set EMBEDDING_DIMENSIONS=0")
    embedder = _onnx(spec) if spec.provider == ONNX else _wordllama(spec)
    if settings.EMBEDDING_OPPOSITION_SIMILARITY:
        embedder.opposition_similarity = settings.EMBEDDING_OPPOSITION_SIMILARITY
    return CachedEmbedder(embedder)


def _onnx(spec: EmbedderSpec) -> OnnxEmbedder:
    if spec.model == MINILM:
        encoder = Encoder("search.onnx", max_tokens=_MINILM_TOKENS)
        return OnnxEmbedder(
            name=spec.name,
            dimensions=_MINILM_DIMENSIONS,
            encode=lambda text: encoder.run([text])[0],
        )
    found = SentenceEncoder(Path(spec.model))
    return OnnxEmbedder(name=spec.name, dimensions=found.dimensions, encode=found.encode)


def _wordllama(spec: EmbedderSpec) -> WordLlamaEmbedder:
    wordllama = WordLlamaEmbedder()
    if spec.name != wordllama.name:
        raise _impossible(f"The wheel of wordllama holds {wordllama.name} and not {spec.name}.")
    return wordllama


def _openai(spec: EmbedderSpec) -> OpenAIEmbedder:
    is_configured = spec == configured_spec()
    embeddings = TextEmbeddings(
        base_url=settings.EMBEDDING_BASE_URL
        if is_configured
        else settings.EMBEDDING_PREVIOUS_BASE_URL,
        api_key=settings.EMBEDDING_API_KEY
        if is_configured
        else settings.EMBEDDING_PREVIOUS_API_KEY,
        model=spec.model,
        dimensions=spec.dimensions,
        batch_size=settings.EMBEDDING_BATCH,
        timeout=settings.OPENAI_TIMEOUT_SECONDS,
    )
    return OpenAIEmbedder(
        name=spec.name,
        embeddings=embeddings,
        dimensions=spec.dimensions,
        opposition_similarity=settings.EMBEDDING_OPPOSITION_SIMILARITY or TRANSFORMER_OPPOSITION,
    )


def _impossible(message: str) -> EmbeddingError:
    return EmbeddingError(message, kind=FailureKind.MISCONFIGURED)
