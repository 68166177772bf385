"""Exact counts where the model is known and its encoding is here; the estimate otherwise."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st

from memory.clients.token_counters import TiktokenCounter, counter_for
from memory.domain.rendering import ESTIMATE, estimate_tokens

O200K = "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of tiktoken's of this test's own, empty."""
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    return tmp_path


def small_encoding() -> tiktoken.Encoding:
    """A real encoding that knows all bytes and "te"."""
    ranks = {bytes([byte]): byte for byte in range(256)}
    return tiktoken.Encoding(
        name="small",
        pat_str=r"\S+|\s+",
        mergeable_ranks={**ranks, b"te": 256},
        special_tokens={"<|endoftext|>": 257},
    )


def test_an_encoding_counts_its_own_tokens() -> None:
    counter = TiktokenCounter(small_encoding())

    assert counter.name == "tiktoken:small"
    assert [counter.count(text) for text in ("", "tea", "test it")] == [0, 2, 6]


def test_a_special_token_in_a_text_is_only_text() -> None:
    assert TiktokenCounter(small_encoding()).count("<|endoftext|>") == 12


@given(st.text(max_size=50))
def test_every_text_can_be_counted(text: str) -> None:
    assert TiktokenCounter(small_encoding()).count(text) <= len(text.encode())


@given(st.text())
def test_the_estimate_is_characters_by_three_and_a_half(text: str) -> None:
    assert ESTIMATE.count(text) == estimate_tokens(text)
    assert ESTIMATE.name == "estimate"


@pytest.mark.parametrize(
    "config",
    [
        {},
        None,
        [],
        {"model_name": None},
        {"model_name": 5},
        {"model_name": ""},
        {"model_name": "anthropic/claude-sonnet-4.5"},
        {"model_name": "gpt-4o"},
        {"model_name": "openai/gpt-4"},
        {"model_name": "davinci"},
    ],
)
def test_without_the_encodings_file_the_estimate_counts(cache: Path, config: object) -> None:
    assert counter_for(config) is ESTIMATE


def test_a_file_that_is_not_the_encodings_is_left_alone(cache: Path) -> None:
    file = cache / hashlib.sha1(O200K.encode()).hexdigest()
    file.write_bytes(b"half a download")

    assert counter_for({"model_name": "gpt-4o"}) is ESTIMATE
    # tiktoken itself would have removed it and asked the network.
    assert file.read_bytes() == b"half a download"
