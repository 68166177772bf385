"""Past memories are found where the archive is asked for: marked, behind their replacements."""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework.test import APIClient

QUESTION = "The gateway runs on port 7000, does it?"
CHAIN = [
    "The gateway runs on port 7000.",
    "The edge listens on another port now, 7100.",
    "Edge traffic goes to 7200 at last.",
]


def remember(client: APIClient, content: str) -> str:
    """Store a memory; its id."""
    body = {"content": content, "user": "sarah"}
    memory: str = client.post("/v1/memories", body, format="json").json()["id"]
    return memory


@pytest.fixture
def chain(api: APIClient) -> list[str]:
    """The ids of a memory and its corrections, which say less and less of the question."""
    ids = [remember(api, CHAIN[0])]
    for content in CHAIN[1:]:
        path = f"/v1/memories/{ids[-1]}/correct"
        answer = api.post(path, {"corrected_content": content}, format="json").json()
        ids.append(answer["id"])
    return ids


def ask(client: APIClient, path: str, **fields: Any) -> Any:  # Any: an answer's JSON
    """Returns the API's answer to Kyra's question."""
    body = {"query": QUESTION, "agent": "kyra", "user": "sarah", **fields}
    if path == "memories/search":
        return client.get(f"/v1/{path}", body).json()
    return client.post(f"/v1/{path}", body, format="json").json()


@pytest.mark.parametrize(
    ("path", "where"),
    [("retrieve", "memories"), ("prompt", "memories"), ("memories/search", "results")],
)
def test_the_past_ranks_behind_all_that_came_after_it(
    api: APIClient, chain: list[str], path: str, where: str
) -> None:
    found = ask(api, path, include_cold=True)[where]

    by_score = sorted(found, key=lambda each: -each["score"])
    assert [each["id"] for each in by_score] == chain[::-1]
    scores = [each["score"] for each in by_score]
    assert scores[0] > scores[1] > scores[2] > 0


def test_a_prompt_says_of_the_past_that_it_is_past(api: APIClient, chain: list[str]) -> None:
    prompt = ask(api, "prompt", include_cold=True)["prompt"]
    text = ask(api, "retrieve", include_cold=True)["formatted_prompt"]

    for told in (prompt, text):
        assert f"[FACT SUPERSEDED]: {CHAIN[0]}" in told
        assert f"[FACT SUPERSEDED]: {CHAIN[1]}" in told
        assert f"[FACT]: {CHAIN[2]}" in told


def test_unasked_the_past_stays_away(api: APIClient, chain: list[str]) -> None:
    assert [each["id"] for each in ask(api, "retrieve")["memories"]] == chain[-1:]


def test_what_nothing_took_the_place_of_keeps_its_rank(api: APIClient, chain: list[str]) -> None:
    other = remember(api, "The billing service is written in Go.")

    found = ask(api, "memories/search", include_cold=True)["results"]

    assert [each["id"] for each in found if each["id"] != other] == chain[::-1]
