"""Exact token counts by tiktoken, where the model is known and its encoding lies on this machine.

tiktoken fetches an encoding's file when it is first asked for. A request must not wait for that, so
only files that are in tiktoken's own cache already (`TIKTOKEN_CACHE_DIR`) are used; they are there
once somebody has asked tiktoken for the encoding.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from functools import lru_cache
from pathlib import Path

import tiktoken
from tiktoken.model import encoding_name_for_model

from memory.domain.rendering import ESTIMATE, TokenCounter

# The files of the encodings in use and their SHA-256, as tiktoken 0.14 names them. tiktoken removes
# a file with another digest and downloads it anew, so the digest is checked before it is asked.
_SOURCE = "https://openaipublic.blob.core.windows.net/encodings/"
_O200K = ("o200k_base.tiktoken", "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d")
_CL100K = (
    "cl100k_base.tiktoken",
    "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
)
_FILES = {"o200k_base": _O200K, "o200k_harmony": _O200K, "cl100k_base": _CL100K}


class TiktokenCounter:
    """A `TokenCounter` that encodes the text."""

    def __init__(self, encoding: tiktoken.Encoding) -> None:
        self._encoding = encoding

    @property
    def name(self) -> str:
        """`tiktoken:` and the encoding's name."""
        return f"tiktoken:{self._encoding.name}"

    def count(self, text: str) -> int:
        """The tokens a model of this encoding reads."""
        return len(self._encoding.encode_ordinary(text))


def counter_for(model_config: object) -> TokenCounter:
    """Counts as an agent's model does where that can be known at once, by the estimate otherwise.

    `model_config` is the agent's, a JSON object with the `model_name`, with or without its provider
    ("openai/gpt-4o"); anything else is a model nobody knows.
    """
    model = model_config.get("model_name") if isinstance(model_config, dict) else None
    if not isinstance(model, str):
        return ESTIMATE
    try:
        encoding = encoding_name_for_model(model.rpartition("/")[2])
        file, digest = _FILES[encoding]
    except KeyError:
        return ESTIMATE
    path = _cache_folder() / hashlib.sha1(f"{_SOURCE}{file}".encode()).hexdigest()  # noqa: S324 - tiktoken's file names
    try:
        changed_at = path.stat().st_mtime_ns
    except OSError:
        return ESTIMATE
    return _loaded(encoding, path, digest, changed_at)


@lru_cache(maxsize=16)
def _loaded(encoding: str, path: Path, digest: str, _changed_at: int) -> TokenCounter:
    """The counter of a file in the cache, loaded once a process unless the file changes."""
    try:
        is_whole = hashlib.sha256(path.read_bytes()).hexdigest() == digest
    except OSError:
        is_whole = False
    return TiktokenCounter(tiktoken.get_encoding(encoding)) if is_whole else ESTIMATE


def _cache_folder() -> Path:
    """Returns the folder of tiktoken's files; an empty setting stores none."""
    for name in ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"):
        if name in os.environ:
            return Path(os.environ[name] or os.devnull)
    return Path(tempfile.gettempdir()) / "data-gym-cache"
