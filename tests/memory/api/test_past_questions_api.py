"""Past memories are found where the caller asks for them: marked, behind their replacements."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from tests.support.query_api import ask, texts

BEFORE, NOW = "The orchard dog is called Bramble.", "The orchard dog is now called Biscuit."
QUESTION = "What was the orchard dog called before?"


@pytest.fixture(autouse=True)
def renamed(api: APIClient) -> None:
    """A dog with a former name."""
    made = api.post("/v1/memories", {"content": BEFORE}, format="json").json()
    path = f"/v1/memories/{made['id']}/correct"
    answer = api.post(path, {"corrected_content": NOW}, format="json")
    assert answer.status_code == 201, answer.content


def found(client: APIClient, path: str, **fields: Any) -> list[str]:
    """The memories of an answer, best first."""
    body = {"query": QUESTION, "agent": "kyra", **fields}
    if path == "memories/search":
        results = client.get(f"/v1/{path}", body).json()["results"]
    else:
        results = client.post(f"/v1/{path}", body, format="json").json()["memories"]
    return [each["content"] for each in sorted(results, key=lambda each: -each["score"])]


@pytest.mark.parametrize("path", ["retrieve", "prompt", "memories/search"])
def test_it_is_found_behind_its_successor_where_it_is_asked_for(api: APIClient, path: str) -> None:
    assert found(api, path, include_cold=True) == [NOW, BEFORE]
    assert found(api, path, include_cold=False) == [NOW]
    assert found(api, path) == [NOW]


def test_a_query_finds_it_marked(api: APIClient) -> None:
    asked = ask(api, QUESTION, include_cold=True)

    assert [NOW in texts(asked)[0], BEFORE in texts(asked)[1]] == [True, True]
    assert "SUPERSEDED" in texts(asked)[1]
    assert "SUPERSEDED" not in texts(asked)[0]


def test_a_query_finds_what_holds_however_it_is_worded(api: APIClient) -> None:
    for question in (QUESTION, "What is the orchard dog called?"):
        (text,) = texts(ask(api, question))
        assert NOW in text


def test_a_prompt_says_that_it_is_past(api: APIClient) -> None:
    body = {"query": QUESTION, "agent": "kyra", "include_cold": True}
    prompt = api.post("/v1/retrieve", body, format="json").json()["formatted_prompt"]

    (line,) = [each for each in prompt.splitlines() if BEFORE in each]
    assert "SUPERSEDED" in line


@pytest.mark.parametrize("path", ["retrieve", "prompt", "memory/query"])
def test_what_is_past_does_not_come_without_what_holds(api: APIClient, path: str) -> None:
    made = api.post("/v1/memories", {"content": "The mill pony is called Dot."}, format="json")
    new = "The mill pony is now called Star" + 50 * ", which she hears" + "."
    address = f"/v1/memories/{made.json()['id']}/correct"
    assert api.post(address, {"corrected_content": new}, format="json").status_code == 201

    told = []
    for budget in (100, 150, 2000):
        body: dict[str, Any] = {"query": "What was the mill pony called before?", "agent": "kyra"}
        body["include_cold"] = True
        body["budget_tokens" if path == "memory/query" else "token_budget"] = budget
        answer = api.post(f"/v1/{path}", body, format="json").content.decode()
        told.append(("called Dot" in answer, "called Star" in answer))

    # What holds may be told by its summary where it does not fit whole.
    assert told[-1] == (True, True)
    assert all(holds or not past for past, holds in told)
    assert not all(past for past, _ in told)


def test_the_past_costs_a_query_one_statement(api: APIClient) -> None:
    for with_cold in (False, True):  # so that both rows are known
        ask(api, "How is the orchard dog called?", include_cold=with_cold)
    counts = []
    for with_cold in (False, True):
        with CaptureQueriesContext(connection) as queries:
            ask(api, QUESTION, include_cold=with_cold)
        counts.append(len(queries))

    assert counts[1] <= counts[0] + 1
