"""The options that retrieve, prompt and query share, under one set of names."""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework.test import APIClient

from teams.models import Agent
from tests.support.cast import Cast
from tests.support.memories_api import listed, tell_one_of_each_kind

READS = ["retrieve", "prompt", "memory/query"]
ITSELF = "You are Kyra, a careful engineer."
SAID = "Biscuit, our office dog, chewed the blue slipper."

each_read = pytest.mark.parametrize("path", READS)


@pytest.fixture
def filled(api: APIClient, acme: Cast) -> APIClient:
    """A client of a team whose Kyra knows one thing of every kind."""
    tell_one_of_each_kind(api, of_itself=ITSELF)
    return api


def ask(client: APIClient, path: str, query: str = "Where does Sarah live?", **fields: Any) -> Any:
    """The answer to Kyra's question."""
    body = {"agent": "kyra", "query": query, **fields}
    response = client.post(f"/v1/{path}", body, format="json")
    assert response.status_code == 200, response.content
    return response.json()


def refused(client: APIClient, path: str, code: int = 422, **fields: Any) -> set[str]:
    """The fields at fault."""
    body = {"agent": "kyra", "query": "Where does Sarah live?", **fields}
    response = client.post(f"/v1/{path}", body, format="json")
    assert response.status_code == code, response.content
    return set(response.json()["errors"])


def texts(answer: Any) -> list[str]:
    """Returns the lines of the answer, one for each memory or message."""
    lines = [each["text"] for each in answer.get("results", ())]
    lines += [each["content"] for each in answer.get("memories", ())]
    return lines + [each.get("text", each.get("content")) for each in answer["messages"]]


def optional(answer: Any) -> list[str]:
    """The same without what every prompt holds."""
    always = (ITSELF, "Never promise dates.")
    return [each for each in texts(answer) if not each.endswith(always) or each.startswith("[")]


def budget(answer: Any) -> int:
    """Returns the token budget of the answer."""
    found: int = answer.get("token_budget") or answer["stats"]["token_budget"]
    return found


@each_read
def test_a_budget_and_a_limit_have_the_same_names(filled: APIClient, path: str) -> None:
    answer = ask(filled, path, user="sarah", token_budget=777, limit=1)

    assert budget(answer) == 777
    assert len(optional(answer)) == 1


@each_read
def test_other_names_of_them_mean_the_same(filled: APIClient, path: str) -> None:
    answer = ask(filled, path, user="sarah", token_budget=777, limit=2)
    other = ask(filled, path, user="sarah", budget_tokens=777, top_k=2)

    assert (budget(other), texts(other)) == (777, texts(answer))


@each_read
def test_a_refusal_uses_the_name_that_was_sent(filled: APIClient, path: str) -> None:
    assert refused(filled, path, budget_tokens=1, top_k=0) == {"budget_tokens", "top_k"}
    assert refused(filled, path, token_budget=1, limit=0) == {"token_budget", "limit"}
    assert refused(filled, path, limit=1, top_k=1) == {"top_k"}


@each_read
def test_types_narrow_what_is_told(filled: APIClient, path: str) -> None:
    question = "What of the build, the worker and the team that meets on Mondays?"
    answer = ask(filled, path, question, user="sarah", memory_types=["episodic", "shared"])

    told = {each.partition("] ")[2] or each for each in optional(answer)}
    assert told == {"Sarah broke the build.", "The team meets on Mondays."}
    assert (ITSELF in texts(answer)) == (path != "memory/query")
    assert refused(filled, path, memory_types=["gossip"]) == {"memory_types[0]"}


@each_read
def test_weights_of_the_request_decide_the_order(api: APIClient, path: str) -> None:
    for content, importance in (("Sarah lives in Berlin.", 1), ("Sarah collects stamps.", 10)):
        body = {"content": content, "importance": importance, "agent": "kyra", "check": False}
        assert api.post("/v1/memories", body, format="json").status_code == 201

    def first(weights: dict[str, float]) -> str:
        zero = dict.fromkeys(("semantic", "recency", "importance", "continuity", "relation"), 0)
        return texts(ask(api, path, weights={**zero, **weights}))[0]

    assert first({"semantic": 1}).endswith("Sarah lives in Berlin.")
    assert first({"importance": 1}).endswith("Sarah collects stamps.")
    assert refused(api, path, weights={"semantic": -1}) == {"weights.semantic"}


@each_read
def test_a_thread_gives_user_and_project(filled: APIClient, path: str) -> None:
    names = {"agent": "kyra", "user": "dmitri", "thread_id": "lunch"}
    conversation = filled.post("/v1/conversations", names, format="json").json()["id"]

    by_thread = ask(filled, path, user="dmitri", thread_id="lunch")
    by_id = ask(filled, path, conversation=conversation)

    assert texts(by_thread) == texts(by_id)
    assert not any("Berlin" in each for each in texts(by_id))
    assert refused(filled, path, thread_id="lunch") == {"thread_id"}
    both = {"user": "dmitri", "thread_id": "lunch", "conversation": conversation}
    assert refused(filled, path, **both) == {"thread_id"}
    assert refused(filled, path, 404, user="dmitri", thread_id="supper") == {"thread_id"}


@each_read
def test_messages_and_cold_memories_come_on_request(filled: APIClient, path: str) -> None:
    opened = {"agent": "kyra", "user": "sarah"}
    conversation = filled.post("/v1/conversations", opened, format="json").json()["id"]
    said = {"messages": [{"role": "user", "content": SAID}]}
    filled.post(f"/v1/conversations/{conversation}/messages", said, format="json")

    def told(**fields: Any) -> bool:
        found = texts(ask(filled, path, "What did Biscuit chew?", user="sarah", **fields))
        return any(SAID in each for each in found)

    # Where memories say little, messages are looked at unasked.
    assert told()
    assert told(include_raw=True)
    assert not told(include_raw=False)
    assert not told(memory_types=["semantic"])
    assert told(memory_types=["semantic"], include_raw=True)


def test_a_message_in_a_query_stays_within_the_budget_and_the_limit(filled: APIClient) -> None:
    opened = {"agent": "kyra", "user": "sarah"}
    conversation = filled.post("/v1/conversations", opened, format="json").json()["id"]
    said = [{"role": "user", "content": f"Biscuit chewed slipper number {n}."} for n in range(30)]
    path = f"/v1/conversations/{conversation}/messages"
    filled.post(path, {"messages": said}, format="json")

    def found(**fields: Any) -> Any:
        asked = {"user": "sarah", "include_raw": True, **fields}
        return ask(filled, "memory/query", "What did Biscuit chew?", **asked)

    few, small = found(limit=4), found(limit=30, token_budget=100)
    full = found(**{"return": "full"})

    assert len(few["results"]) + len(few["messages"]) == 4
    assert small["tokens_used"] <= 100
    assert small["left_out"] > 0
    message = full["messages"][0]
    assert message["text"].startswith("[SAID 20")
    assert (message["level"], message["conversation"]) == ("raw", conversation)


def test_a_limit_does_not_count_the_summary_of_the_conversation(filled: APIClient) -> None:
    opened = {"agent": "kyra", "user": "sarah"}
    conversation = filled.post("/v1/conversations", opened, format="json").json()["id"]
    said = {"messages": [{"role": "user", "content": "We decided to ship the beta on March 18."}]}
    filled.post(f"/v1/conversations/{conversation}/messages", said, format="json")
    done = filled.post(f"/v1/conversations/{conversation}/compact", {"keep_last": 0}, format="json")
    assert done.status_code == 200, done.content

    answer = ask(filled, "prompt", conversation=conversation, limit=1)

    assert "[SUMMARY]" in answer["prompt"]
    assert len(optional(answer)) == 1


def test_lists_and_searches_use_the_same_names(filled: APIClient) -> None:
    assert listed(filled, "memory_types=shared") == ["The team meets on Mondays."]
    assert listed(filled, "memory_type=shared") == ["The team meets on Mondays."]

    for query in ("memory_types=shared&limit=1", "memory_type=shared&top_k=1"):
        found = filled.get(f"/v1/memories/search?query=Mondays&{query}").json()["results"]
        assert [each["content"] for each in found] == ["The team meets on Mondays."]

    answer = filled.get("/v1/memories?memory_type=gossip")
    assert set(answer.json()["errors"]) == {"memory_type[0]"}


@each_read
def test_an_agents_own_budget_that_is_too_small_is_named(
    filled: APIClient, acme: Cast, path: str
) -> None:
    Agent.objects.filter(pk=acme.kyra.pk).update(token_budget=5)

    assert refused(filled, path) == {"token_budget"}
    assert budget(ask(filled, path, token_budget=200)) == 200
