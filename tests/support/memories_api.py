"""Requests that act on memories, for tests, and what is acted on."""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework.test import APIClient

OLD_LIMIT = "The API limit is 100 requests per minute."
OTHER_LIMIT = "The API limit is 500 requests per minute."
TALK = [
    "My name is Sarah and I live in Berlin.",
    "We decided to use PostgreSQL for the billing service.",
    "I am allergic to peanuts.",
    "My dog is called Rex.",
]


def post(api: APIClient, path: str, **body: object) -> Any:
    """The response to a JSON body."""
    return api.post(f"/v1/{path}", body, format="json")


def remember(api: APIClient, content: str, **fields: object) -> str:
    """The id of a stated memory."""
    response = post(api, "memories", content=content, **fields)
    assert response.status_code == 201, response.content
    return str(response.json()["id"])


def shown(api: APIClient, memory_id: str) -> dict[str, Any]:
    """The memory as the API shows it."""
    response = api.get(f"/v1/memories/{memory_id}")
    assert response.status_code == 200
    return dict(response.json())


def open_ones(api: APIClient, query: str = "") -> list[dict[str, Any]]:
    """The listed contradictions."""
    response = api.get(f"/v1/contradictions?{query}")
    assert response.status_code == 200, response.content
    return list(response.json()["results"])


@pytest.fixture
def disputed(api: APIClient) -> tuple[str, str, str]:
    """The ids of two memories in dispute and of their contradiction."""
    one, two = remember(api, OLD_LIMIT), remember(api, OTHER_LIMIT)
    (row,) = open_ones(api)
    return one, two, str(row["id"])


@pytest.fixture
def talk(api: APIClient) -> str:
    """The path of a conversation of four messages."""
    path = f"conversations/{post(api, 'conversations', agent='kyra', user='sarah').json()['id']}"
    post(api, f"{path}/messages", messages=[{"role": "user", "content": each} for each in TALK])
    return path


BERLIN = "Sarah lives in Berlin."


def post_memory(api: APIClient, content: str = BERLIN, **fields: object) -> Any:
    """The response to one stated memory."""
    return api.post("/v1/memories", {"content": content, **fields}, format="json")


def listed(api: APIClient, query: str = "") -> list[str]:
    """The contents of a list, as given."""
    response = api.get(f"/v1/memories?{query}")
    assert response.status_code == 200, response.content
    return [each["content"] for each in response.json()["results"]]


FACTS: list[dict[str, object]] = [
    {"content": "Sarah is a nurse.", "memory_type": "user_profile", "user": "sarah"},
    {"content": "Sarah lives in Berlin.", "user": "sarah", "importance": 7},
    {"content": "Sarah broke the build.", "memory_type": "episodic", "user": "sarah"},
    {"content": "Restart the worker after a deploy.", "memory_type": "procedural"},
    {"content": "The team meets on Mondays.", "memory_type": "shared"},
    {"content": "Never promise dates.", "is_pinned": True},
    {"content": "Dmitri lives in Paris.", "user": "dmitri"},
]


def tell_one_of_each_kind(api: APIClient, *, of_itself: str) -> None:
    """State them all as Kyra's, with this as what she knows of herself."""
    facts: list[dict[str, object]] = [{"content": of_itself, "memory_type": "identity"}, *FACTS]
    body = [
        {**fact, "agent": "kyra", "check": False, "created_at": "2026-02-09T09:04:00Z"}
        for fact in facts
    ]
    assert api.post("/v1/memories", body, format="json").status_code == 201
