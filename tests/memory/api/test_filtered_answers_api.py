"""Memories that pass an exact filter are an answer, however little they say about the question."""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework.test import APIClient

from memory.domain.types import MemoryType
from tests.support.cast import Cast
from tests.support.query_api import Remember, ask, remember, texts

__all__ = ["remember"]

KEPT = [f"Step {number} of the cider press routine." for number in range(150)]
IDLE = ("zzz", "What should I know about this?", "hello there", "step")


@pytest.fixture(autouse=True)
def routine(acme: Cast, remember: Remember) -> None:
    """Many memories of one kind, and one of another."""
    fields = {"memory_type": MemoryType.PROCEDURAL, "category": "press", "importance": 6}
    remember(*KEPT, **fields)
    remember("The office plants need water.", importance=3)


@pytest.mark.parametrize("question", IDLE)
@pytest.mark.parametrize(
    "narrowing",
    [
        {"filters": {"memory_type": "procedural"}},
        {"filters": {"importance_min": 5}},
        {"categories": ["press"]},
    ],
)
def test_a_query_keeps_all_that_its_filter_left(
    api: APIClient,
    question: str,
    narrowing: dict[str, Any],  # Any: parts of a request
) -> None:
    answer = ask(api, question, top_k=500, budget_tokens=100_000, **narrowing)

    assert len(answer["results"]) == len(KEPT)
    scores = [each["score"] for each in answer["results"]]
    assert scores == sorted(scores, reverse=True)


def test_the_threshold_and_top_k_decide(api: APIClient) -> None:
    filters = {"memory_type": "procedural"}

    assert len(texts(ask(api, "zzz", filters=filters, top_k=7))) == 7
    assert texts(ask(api, "zzz", filters=filters, top_k=500, threshold=0.5)) == []


@pytest.mark.parametrize("question", IDLE)
@pytest.mark.parametrize(
    "narrowing", [{"memory_types": "procedural"}, {"min_importance": 5}], ids=str
)
def test_a_search_keeps_what_its_filter_left(
    api: APIClient,
    question: str,
    narrowing: dict[str, Any],  # Any: parts of a request
) -> None:
    body = {"query": question, "agent": "kyra", "limit": 50, **narrowing}

    results = api.get("/v1/memories/search", body).json()["results"]

    assert len(results) == 50
