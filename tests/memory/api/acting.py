"""Requests that act on memories, for tests, and what is acted on."""

from __future__ import annotations

from collections.abc import Callable
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
Clients = Callable[..., APIClient]


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
