"""Embedders behind the `Embedder` port."""

from __future__ import annotations

import hashlib
import json
import logging
import threading
import time
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import numpy as np
import onnxruntime
from cachetools import LRUCache
from django.conf import settings
from numpy.typing import NDArray
from tokenizers import Tokenizer

from memory.domain.text.words import is_blank
from memory.understanding.encoder import Encoder, session
from memory.understanding.ports import Embedder
from routing.clients.embeddings import (
    DIMENSIONS,
    TextEmbeddings,
    load_model,
    static_vectors,
    unit_rows,
)
from routing.clients.endpoints import EndpointRest
from routing.clients.protocol import EmbeddingError, FailureKind
from teams.errors import UnavailableError

logger = logging.getLogger(__name__)

# Seed 000, contradiction detection: measured there on a transformer's vectors.
TRANSFORMER_OPPOSITION = 0.7
# The embedding cache of seed 000.
CACHED_TEXTS = 1000

Encode = Callable[[str], NDArray[np.float32]]


class OnnxEmbedder:
    """Vectors of a sentence encoder in this process, on the calling thread; thread-safe.

    `encode` returns the unit vector of a text, of `dimensions` numbers. Texts are encoded one by
    one: in a batch the scale of an int8 graph depends on its other texts, which moved vectors by a
    cosine of 0.99, and on one thread a batch takes as long.
    """

    # Of 1,400 labelled pairs 99 % of the conflicts lie above, and 97 % of unrelated pairs below.
    opposition_similarity = 0.25

    def __init__(self, *, name: str, dimensions: int, encode: Encode) -> None:
        self.name = name
        self.dimensions = dimensions
        self._encode = encode

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        unit = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for place, text in enumerate(texts):
            if not is_blank(text):
                unit[place] = self._encode(text)
        return unit


class WordLlamaEmbedder:
    """Static word vectors from the wheel: no network, about 0.05 ms a text, thread-safe."""

    name = "wordllama/l2_supercat_256"
    dimensions = DIMENSIONS
    # Static vectors lie further apart than a transformer's: 95 % of the labelled conflicts of the
    # development pairs lie above 0.3, and 99 % of unrelated pairs below.
    opposition_similarity = 0.3

    def __init__(self) -> None:
        load_model()

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors, shape (len(texts), 256); a text without known words is a zero vector."""
        return static_vectors(texts)


class OpenAIEmbedder:
    """Vectors of an OpenAI-compatible endpoint; thread-safe.

    `dimensions` is what every vector must have, 0 until the first answer says it. When an
    unavailable endpoint has cost more than `patience_seconds`, it is left alone for
    `rest_seconds`, so that not every search waits for it.
    """

    def __init__(
        self,
        *,
        name: str,
        embeddings: TextEmbeddings,
        dimensions: int = 0,
        opposition_similarity: float = TRANSFORMER_OPPOSITION,
        patience_seconds: float = 5.0,
        rest_seconds: float = 30.0,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = name
        self.dimensions = dimensions
        self.opposition_similarity = opposition_similarity
        self._embeddings = embeddings
        self._rest = EndpointRest(
            patience_seconds=patience_seconds, rest_seconds=rest_seconds, monotonic=monotonic
        )

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        places = [place for place, text in enumerate(texts) if not is_blank(text)]
        if not places and (self.dimensions or not texts):
            return np.zeros((len(texts), self.dimensions), dtype=np.float32)
        # The protocol refuses empty texts; a full stop tells the size where all are blank.
        found = self._ask([texts[place] for place in places] or ["."])
        if self.dimensions not in {0, found.shape[1]}:
            raise _impossible(
                f"{self.name} gives {found.shape[1]} dimensions, and {self.dimensions} before."
            )
        self.dimensions = found.shape[1]
        unit = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        if places:
            unit[places] = unit_rows(found)
        return unit

    def _ask(self, texts: Sequence[str]) -> NDArray[np.float32]:
        started = self._rest.begin()
        if started is None:
            raise EmbeddingError(
                f"{self.name} did not answer a moment ago.", kind=FailureKind.UNAVAILABLE
            )
        try:
            return self._embeddings.embed(texts)
        except EmbeddingError as error:
            self._rest.note(error, started=started)
            raise


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
        """Dimensions of the embedder behind; some learn it with their first answer."""
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


def embed_readable(embedder: Embedder, texts: Sequence[str]) -> NDArray[np.float32]:
    """Unit vectors, shape (len(texts), dimensions), and zeros for a text that the model refuses.

    Raises what the embedder raises where it does not answer or refuses every text.
    """
    if (found := _unless_refused(embedder, texts)) is not None:
        return found
    # A text that no cache holds: a wrong key or model must not pass for a refused text.
    embedder.embed([uuid4().hex])
    if len(texts) == 1:
        # Once more, as a failure that passes must not pass for one either.
        found = _unless_refused(embedder, texts)
        return np.zeros((1, embedder.dimensions), dtype=np.float32) if found is None else found
    middle = len(texts) // 2
    halves = texts[:middle], texts[middle:]
    return np.concatenate([embed_readable(embedder, half) for half in halves])


def _unless_refused(embedder: Embedder, texts: Sequence[str]) -> NDArray[np.float32] | None:
    try:
        return embedder.embed(texts)
    except (EmbeddingError, UnavailableError) as error:
        cause = error if isinstance(error, EmbeddingError) else error.__cause__
        if not isinstance(cause, EmbeddingError) or cause.kind is FailureKind.UNAVAILABLE:
            raise
        logger.warning("The embedder refuses %d texts: %s", len(texts), cause)
    return None


def normalise(text: str) -> str:
    """The text in NFKC with its white space folded.

    Not `normalise_text` of the duplicate rules: a model reads case and punctuation, so "US" and
    "us", or a statement and its question, have vectors of their own.
    """
    return " ".join(unicodedata.normalize("NFKC", text).split())


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
    return _impossible(f"No sentence encoder can be read from {folder}: {problem}.")


ONNX, WORDLLAMA, OPENAI = PROVIDERS = ("onnx", "wordllama", "openai")
MINILM = "all-MiniLM-L6-v2"
# As its vectors are named.
BUILT_IN = f"{ONNX}/{MINILM}"
# Its makers trained it on no longer texts.
_MINILM_TOKENS = 256
_DEFAULT_MODELS = {
    ONNX: MINILM,
    WORDLLAMA: "l2_supercat_256",
    OPENAI: "text-embedding-3-small",
}
# Asking for a model's own size changes nothing, so it must not look like another model.
_OWN_DIMENSIONS = {
    MINILM: 384,
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
        """The model name stored with its vectors: `openai/text-embedding-3-small@512`."""
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
        raise _impossible(f"No embedder of this version makes vectors of {name!r}.")
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
    if spec.provider == WORDLLAMA and spec.name != WordLlamaEmbedder.name:
        raise _impossible(f"wordllama holds {WordLlamaEmbedder.name} and not {spec.name}.")
    embedder = _onnx(spec) if spec.provider == ONNX else WordLlamaEmbedder()
    if settings.EMBEDDING_OPPOSITION_SIMILARITY:
        embedder.opposition_similarity = settings.EMBEDDING_OPPOSITION_SIMILARITY
    return CachedEmbedder(embedder)


def _onnx(spec: EmbedderSpec) -> OnnxEmbedder:
    if spec.model != MINILM:
        found = SentenceEncoder(Path(spec.model))
        return OnnxEmbedder(name=spec.name, dimensions=found.dimensions, encode=found.encode)
    return built_in_embedder()


@cache
def built_in_embedder() -> OnnxEmbedder:
    """Returns the built-in search embedder, one for each process."""
    encoder = Encoder("search.onnx", max_tokens=_MINILM_TOKENS)
    return OnnxEmbedder(
        name=BUILT_IN,
        dimensions=_OWN_DIMENSIONS[MINILM],
        encode=lambda text: encoder.run([text])[0],
    )


def _openai(spec: EmbedderSpec) -> OpenAIEmbedder:
    prefix = "EMBEDDING" if spec == configured_spec() else "EMBEDDING_PREVIOUS"
    return OpenAIEmbedder(
        name=spec.name,
        embeddings=TextEmbeddings(
            base_url=getattr(settings, f"{prefix}_BASE_URL"),
            api_key=getattr(settings, f"{prefix}_API_KEY"),
            model=spec.model,
            dimensions=spec.dimensions,
            batch_size=settings.EMBEDDING_BATCH,
            timeout=settings.OPENAI_TIMEOUT_SECONDS,
        ),
        dimensions=spec.dimensions,
        opposition_similarity=settings.EMBEDDING_OPPOSITION_SIMILARITY or TRANSFORMER_OPPOSITION,
    )


def _impossible(message: str) -> EmbeddingError:
    return EmbeddingError(message, kind=FailureKind.MISCONFIGURED)
