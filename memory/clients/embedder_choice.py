"""Chooses and builds the embedder that a stored name or the settings ask for."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings

from memory.clients.embedders import (
    TRANSFORMER_OPPOSITION,
    CachedEmbedder,
    FastEmbedEmbedder,
    OpenAIEmbedder,
    WordLlamaEmbedder,
)
from memory.domain.ports import Embedder
from routing.clients.embeddings import TextEmbeddings
from routing.clients.protocol import EmbeddingError, FailureKind

WORDLLAMA, OPENAI, FASTEMBED = PROVIDERS = ("wordllama", "openai", "fastembed")
_DEFAULT_MODELS = {
    WORDLLAMA: "l2_supercat_256",
    OPENAI: "text-embedding-3-small",
    FASTEMBED: "BAAI/bge-small-en-v1.5",
}
# Asking for a model's own size changes nothing, so it must not look like another model.
_OWN_DIMENSIONS = {
    "l2_supercat_256": 256,
    "text-embedding-3-small": 1536,
    "text-embedding-3-large": 3072,
    "text-embedding-ada-002": 1536,
    "BAAI/bge-small-en-v1.5": 384,
}
_MAX_NAME = 200


@dataclass(frozen=True, slots=True)
class EmbedderSpec:
    """An embedder by provider, model and asked size; `dimensions` 0 is the model's own."""

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
    if spec.provider == FASTEMBED:
        fastembed = FastEmbedEmbedder(
            name=spec.name,
            model=spec.model,
            opposition_similarity=settings.EMBEDDING_OPPOSITION_SIMILARITY
            or TRANSFORMER_OPPOSITION,
        )
        return CachedEmbedder(fastembed)
    wordllama = WordLlamaEmbedder()
    if spec.name != wordllama.name:
        raise _impossible(f"The wheel of wordllama holds {wordllama.name} and not {spec.name}.")
    if settings.EMBEDDING_OPPOSITION_SIMILARITY:
        wordllama.opposition_similarity = settings.EMBEDDING_OPPOSITION_SIMILARITY
    return CachedEmbedder(wordllama)


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
