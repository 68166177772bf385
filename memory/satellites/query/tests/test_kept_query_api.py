"""An answer of `memory.query` that was sent before is sent again while it is true."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import orjson
import pytest
from django_redis import get_redis_connection
from rest_framework.test import APIClient

from memory.models import Category
from memory.reading.usage import NOTED
from teams.models import Agent
from teams.tenancy import team_scope
from tests.support.cast import Cast, make_cast

ASKED = {"agent": "kyra", "query": "the deployment plan", "categories": ["tasks"]}


@pytest.fixture
def town(committed_db: None) -> Cast:
    """A team of this test's own, committed: in a transaction nothing is given again."""
    return make_cast(f"town-{uuid4().hex}")


@pytest.fixture
def kyra(town: Cast, client_of: Callable[..., APIClient]) -> APIClient:
    """A client of a team that knows of a plan."""
    client = client_of(town)
    remember(client, content="The deployment plan has three steps.", importance=8)
    remember(client, content="The deployment plan begins on Monday.", importance=4)
    return client


def remember(client: APIClient, **fields: Any) -> None:
    body = {"agent": "kyra", "category": "tasks", "check": False, **fields}
    answer = client.post("/v1/memories", body, format="json")
    assert answer.status_code == 201, answer.content


def ask(client: APIClient, **fields: Any) -> Any:
    answer = client.post("/v1/memory/query", {**ASKED, **fields}, format="json")
    assert answer.status_code == 200, answer.content
    assert answer["Content-Type"] == "application/json"
    return answer.json()


def texts(answer: Any) -> set[str]:
    return {each["text"].removeprefix("[tasks] ") for each in answer["results"]}


def kept() -> dict[bytes, bytes]:
    """The queries' answers that are kept, by their keys."""
    redis = get_redis_connection("default")
    found = {key: redis.get(key) for key in redis.scan_iter("*:hot:*")}
    return {key: value for key, value in found.items() if b'"token_budget"' in value}


def mark() -> None:
    """Put something into what is kept that shows where it comes from."""
    redis = get_redis_connection("default")
    for key, text in kept().items():
        answer = orjson.loads(text)
        answer["body"]["from"] = "redis"
        redis.set(key, orjson.dumps(answer))


@pytest.mark.parametrize("shape", ["bullets", "full"])
def test_the_same_query_is_answered_with_what_was_kept(kyra: APIClient, shape: str) -> None:
    first = ask(kyra, **{"return": shape})
    mark()
    again = ask(kyra, **{"return": shape})

    assert len(texts(first)) == 2
    assert again == {**first, "from": "redis"}


@pytest.mark.parametrize(
    "other",
    [
        {"query": "the deployment"},
        {"user": "sarah"},
        {"agent": "luke"},
        {"categories": []},
        {"filters": {"importance_min": 5}},
        {"filters": {"not": {"importance_min": 5}}},
        {"top_k": 1},
        {"threshold": 0.9},
        {"budget_tokens": 100},
        {"return": "full"},
    ],
)
def test_another_query_is_not_answered_with_it(kyra: APIClient, other: dict[str, Any]) -> None:
    ask(kyra)
    mark()

    assert "from" not in ask(kyra, **other)


def test_filters_of_the_same_parts_are_told_apart(kyra: APIClient) -> None:
    parts = [{"importance_min": 5}, {"importance_max": 5}]

    both = ask(kyra, filters={"and": parts})
    either = ask(kyra, filters={"or": parts})

    assert (len(texts(both)), len(texts(either))) == (0, 2)


def test_whatever_is_written_is_in_the_very_next_answer(kyra: APIClient) -> None:
    ask(kyra)
    remember(kyra, content="The deployment plan was printed.")

    assert "The deployment plan was printed." in texts(ask(kyra))


def test_a_category_that_is_read_differently_is_asked_anew(kyra: APIClient, town: Cast) -> None:
    with team_scope(team_ids=[town.team.id], actor="test"):
        Category.objects.create(team=town.team, name="tasks", context="rag", length=1)
    ask(kyra)
    with team_scope(team_ids=[town.team.id], actor="test"):
        Category.objects.update(context="all", length=None)

    assert len(texts(ask(kyra))) == 2


def test_a_new_allowlist_holds_for_what_was_kept(kyra: APIClient, town: Cast) -> None:
    ask(kyra)
    with team_scope(team_ids=[town.team.id], actor="test"):
        Agent.objects.filter(pk=town.kyra.pk).update(allowed_categories=["goals"])

    answer = kyra.post("/v1/memory/query", ASKED, format="json")

    assert answer.status_code == 403


def test_an_answer_given_again_is_counted_as_well(town: Cast, kyra: APIClient) -> None:
    redis = get_redis_connection("default")
    ask(kyra)
    ask(kyra)

    team = str(town.team.id).encode()
    found = {field: int(count) for field, count in redis.hgetall(NOTED).items() if team in field}
    counts = {count for field, count in found.items() if not field.endswith(b":t")}
    assert counts == {2}


def test_a_new_allowlist_holds_for_what_was_asked_before(kyra: APIClient, town: Cast) -> None:
    asked = {"agent": "kyra", "query": "the deployment plan", "categories": []}
    for allowed, count in ((["tasks"], 2), (["event"], 0), (["tasks", "event"], 2)):
        with team_scope(team_ids=[town.team.pk], actor="test"):
            Agent.objects.filter(pk=town.kyra.pk).update(allowed_categories=allowed)
        for _ in range(2):
            answer = kyra.post("/v1/memory/query", asked, format="json").json()
            assert len(answer["results"]) == count
