"""A retrieval that was sent before is sent again as it was, for as long as it is true."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django_redis import get_redis_connection
from rest_framework.test import APIClient

from audit.services.events import BUFFER
from memory.reading.usage import NOTED
from tests.support.cast import Cast, make_cast

QUESTION = {
    "query": "Where does Sarah live?",
    "agent": "kyra",
    "user": "sarah",
    "return": "full",
}
Answer = dict[str, Any]


@pytest.fixture
def town(committed_db: None) -> Cast:
    """A team of this test's own, committed: in a transaction nothing is given again."""
    return make_cast(f"town-{uuid4().hex}")


@pytest.fixture
def kyra(town: Cast, client_of: Callable[..., APIClient]) -> APIClient:
    """A client of a team that knows something of Sarah."""
    client = client_of(town)
    for content in ("Sarah lives in Berlin.", "Sarah's favourite tea is “Assam”, \\ 🍵."):
        remember(client, content=content)
    return client


def remember(client: APIClient, **fields: Any) -> str:
    """The id of a new memory of Kyra about Sarah."""
    body = {"agent": "kyra", "user": "sarah", "check": False, **fields}
    answer = client.post("/v1/memories", body, format="json")
    assert answer.status_code == 201, answer.content
    return str(answer.json()["id"])


def ask(client: APIClient, **fields: Any) -> Answer:
    """The answer to the question, which may be another one in some points."""
    answer = client.post("/v1/retrieve", {**QUESTION, **fields}, format="json")
    assert answer.status_code == 200, answer.content
    assert answer["Content-Type"] == "application/json"
    found: Answer = answer.json()
    return found


def told(answer: Answer) -> Answer:
    """All of it but the stats, which are of each time."""
    return {name: value for name, value in answer.items() if name != "stats"}


def texts(answer: Answer) -> set[str]:
    """Returns the texts of the memories in the answer."""
    return {each["content"] for each in answer["memories"]}


def test_the_same_question_is_answered_with_the_same(kyra: APIClient) -> None:
    first, again = ask(kyra), ask(kyra)

    assert (first["stats"]["cache_hit"], again["stats"]["cache_hit"]) == (False, True)
    assert told(again) == told(first)
    assert first.keys() == again.keys()
    assert first["stats"].keys() == again["stats"].keys()
    assert list(again["stats"]["steps_ms"]) == ["cache"]
    assert "Sarah lives in Berlin." in texts(again)


@pytest.mark.parametrize(
    "other",
    [
        {"query": "Where does Dmitri live?"},
        {"user": "dmitri"},
        {"agent": "luke"},
        {"token_budget": 100},
        {"limit": 1},
        {"include_raw": True},
        {"include_cold": True},
    ],
)
def test_another_question_is_not_answered_with_it(kyra: APIClient, other: Answer) -> None:
    ask(kyra)

    assert not ask(kyra, **other)["stats"]["cache_hit"]


def test_whatever_is_written_is_in_the_very_next_answer(kyra: APIClient) -> None:
    ask(kyra)
    added = remember(kyra, content="Sarah lives near the river.")
    with_it = ask(kyra)
    kyra.post(f"/v1/memories/{added}/pin", {"pinned": True}, format="json")
    pinned = ask(kyra)
    kyra.delete(f"/v1/memories/{added}")
    without_it = ask(kyra)

    answers = (with_it, pinned, without_it)
    assert [each["stats"]["cache_hit"] for each in answers] == [False] * 3
    assert "Sarah lives near the river." in texts(with_it)
    assert {each["id"]: each["is_pinned"] for each in pinned["memories"]}[added]
    assert "Sarah lives near the river." not in texts(without_it)


def test_another_team_is_not_told_what_was_kept(
    kyra: APIClient, client_of: Callable[..., APIClient]
) -> None:
    ask(kyra)
    elsewhere = ask(client_of(make_cast(f"town-{uuid4().hex}")))

    assert not elsewhere["stats"]["cache_hit"]
    assert texts(elsewhere) == set()


def test_an_answer_given_again_is_counted_and_noted_as_well(town: Cast, kyra: APIClient) -> None:
    redis = get_redis_connection("default")
    ask(kyra)
    ask(kyra)

    team = str(town.team.id).encode()
    found = {field: int(count) for field, count in redis.hgetall(NOTED).items() if team in field}
    counted = {count for field, count in found.items() if not field.endswith(b":t")}
    lines = (line for line in redis.lrange(BUFFER, 0, -1) if team in line)
    events = [line for line in lines if b'"op":"context"' in line]

    assert counted == {2}
    assert len(events) == 2
    assert sum(b'"cache_hit":true' in line for line in events) == 1
