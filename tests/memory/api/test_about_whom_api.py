"""Whom an answer tells about: nothing about people is told but of the user who is named."""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework.test import APIClient

from memory.models import Category
from tests.support.cast import Cast
from tests.support.memories_api import post, remember

QUESTION = "Which tea does the user drink?"
HERS, HIS = "User drinks rooibos tea.", "User drinks mint tea."
FACT = "Sarah buys her tea in Graz."
WARNING = "no user is named, so memories about people are left out; name a user or a conversation"
READS = ["retrieve", "prompt", "memory/query", "memories/search"]

each_read = pytest.mark.parametrize("path", READS)


@pytest.fixture
def profiles(api: APIClient) -> APIClient:
    """A client of a team that knows which tea two people drink, and a fact of one of them."""
    remember(api, HERS, memory_type="user_profile", user="sarah", category="preferences")
    remember(api, HIS, memory_type="user_profile", user="dmitri", is_pinned=True)
    remember(api, FACT, user="sarah")
    return api


def ask(api: APIClient, path: str, **fields: Any) -> Any:
    """The answer to Kyra's question."""
    body = {"agent": "kyra", "query": QUESTION, **fields}
    is_search = path == "memories/search"
    answer = api.get(f"/v1/{path}", body) if is_search else post(api, path, **body)
    assert answer.status_code == 200, answer.content
    return answer.json()


def warnings(answer: Any) -> list[str]:
    found: list[str] = (answer if "warnings" in answer else answer["stats"])["warnings"]
    return found


@each_read
def test_without_a_user_nothing_about_people_is_told_and_the_answer_says_why(
    profiles: APIClient, path: str
) -> None:
    answer = ask(profiles, path)

    assert not any(text in str(answer) for text in (HERS, HIS, FACT))
    assert warnings(answer) == [WARNING]


@each_read
def test_with_a_user_theirs_is_told(profiles: APIClient, path: str) -> None:
    answer = ask(profiles, path, user="sarah")

    assert HERS in str(answer)
    assert FACT in str(answer)
    assert HIS not in str(answer)
    assert warnings(answer) == []


def test_a_filter_may_name_the_user(profiles: APIClient) -> None:
    answer = ask(profiles, "memory/query", filters={"user": "dmitri"})

    assert HIS in str(answer)
    assert answer["warnings"] == []


def test_asking_for_the_type_names_nobody(profiles: APIClient) -> None:
    answer = ask(profiles, "retrieve", memory_types=["user_profile"])

    assert answer["memories"] == []
    assert warnings(answer) == [WARNING]


def test_a_conversation_names_its_user(profiles: APIClient) -> None:
    made = post(profiles, "conversations", agent="kyra", user="sarah").json()

    answer = ask(profiles, "retrieve", conversation=made["id"])

    assert HERS in str(answer)
    assert warnings(answer) == []


def test_a_whole_category_leaves_people_out_where_nobody_is_named(
    profiles: APIClient, acme: Cast
) -> None:
    Category.objects.create(team=acme.team, name="preferences", context="all")
    body = {"category": "preferences", "confirm": True}
    remember(profiles, "The office prefers blinds to curtains.", **body)

    answer = ask(profiles, "memory/query", categories=["preferences"])
    assert ["blinds" in each["text"] for each in answer["results"]] == [True]
    assert warnings(answer) == [WARNING]

    theirs = ask(profiles, "memory/query", categories=["preferences"], user="sarah")
    assert len(theirs["results"]) == 2


def test_a_profile_of_nobody_is_refused_and_nothing_is_stored(api: APIClient) -> None:
    fact = {"content": "The office is in Graz."}
    profile = {"content": "User lives in Graz.", "memory_type": "user_profile"}

    one = post(api, "memories", **profile)
    many = api.post("/v1/memories", [fact, profile], format="json")

    assert (one.status_code, many.status_code) == (422, 422)
    assert "name the user" in str(one.json()["errors"]["user"])
    assert list(many.json()["errors"]) == ["[1].user"]
    assert api.get("/v1/memories").json()["results"] == []


def test_a_profile_of_a_conversation_is_its_users(api: APIClient) -> None:
    made = post(api, "conversations", agent="kyra", user="sarah").json()

    remember(api, "User lives in Graz.", memory_type="user_profile", conversation=made["id"])

    assert api.get("/v1/memories?user=sarah").json()["results"]
