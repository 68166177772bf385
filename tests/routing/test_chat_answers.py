"""Answers of endpoints of any kind: what they add up to, whatever their shape."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routing.domain.chat_answers import (
    Gathered,
    counted_usage,
    has_answer,
    is_only_usage,
    tokens_of_message,
    tokens_of_request,
)

NAMES = (
    *("choices", "delta", "index", "content", "tool_calls", "function", "usage", "name"),
    *("arguments", "id", "prompt_tokens", "finish_reason", "message"),
)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(NAMES),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)
OBJECTS = st.dictionaries(st.sampled_from(["choices", "usage", "id"]), ANYTHING)


def chunk(delta: Any, **choice: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, **choice}]}


@given(chunks=st.lists(OBJECTS, max_size=5))
def test_no_shape_of_a_chunk_breaks_what_is_gathered(chunks: list[dict[str, Any]]) -> None:
    gathered = Gathered()
    for each in chunks:
        gathered.add(each)
        is_only_usage(each)
        has_answer(each)

    assert gathered.message["role"] == "assistant"
    assert tokens_of_message(gathered.message) >= 0


@given(parts=st.lists(st.text(max_size=20), max_size=10))
def test_the_words_of_a_stream_add_up_to_its_text(parts: list[str]) -> None:
    gathered = Gathered()
    for part in parts:
        gathered.add(chunk({"content": part}))

    assert (gathered.message["content"] or "") == "".join(parts)


def test_calls_of_every_kind_are_gathered() -> None:
    gathered = Gathered()
    gathered.add(chunk({"function_call": {"name": "find", "arguments": ""}}))
    gathered.add(chunk({"function_call": {"arguments": "{}"}}))
    for text in ("two ", "words"):
        part = {"index": 0, "id": "a", "type": "custom", "custom": {"name": "", "input": text}}
        gathered.add(chunk({"tool_calls": [part]}))

    assert gathered.message["function_call"] == {"name": "find", "arguments": "{}"}
    assert gathered.message["tool_calls"] == [
        {"id": "a", "type": "custom", "custom": {"name": "", "input": "two words"}}
    ]


def test_only_the_first_of_several_answers_is_gathered() -> None:
    gathered = Gathered()
    gathered.add({"choices": [{"index": 1, "delta": {"content": "B"}, "finish_reason": "stop"}]})
    gathered.add(chunk({"content": "A"}))

    assert gathered.message["content"] == "A"
    assert gathered.finish_reason is None


@pytest.mark.parametrize(
    ("usage", "counted"),
    [
        ({"prompt_tokens": 7, "completion_tokens": 3}, (7, 3)),
        ({"prompt_tokens": 7}, (7, 0)),
        ({"prompt_tokens": 0, "completion_tokens": 0}, None),
        ({"prompt_tokens": -5, "completion_tokens": True}, None),
        ({"prompt_tokens": "7"}, None),
        (None, None),
        ([], None),
    ],
)
def test_a_count_counts_only_where_it_is_one(usage: object, counted: object) -> None:
    assert counted_usage(usage) == counted


def test_pictures_are_not_counted_by_their_bytes() -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 100_000}}
    text = {"type": "text", "text": "What is this?"}

    tokens = tokens_of_request([{"role": "user", "content": [text, picture]}], {})

    assert 800 <= tokens < 900
