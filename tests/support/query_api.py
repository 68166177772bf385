"""Questions by `POST /v1/memory/query`, and what a team remembers for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from memory.models import Memory
from memory.understanding.tools import Tools
from teams.models import Agent
from tests.support.cast import Cast
from tests.support.writing import store

QUERY = "/v1/memory/query"
Remember = Callable[..., list[Memory]]


@pytest.fixture
def remember(acme: Cast, tools: Tools) -> Remember:
    """Stores memories of Acme as given."""

    def store_now(*contents: str, **fields: Any) -> list[Memory]:
        return store(acme, tools, *contents, **{"created_at": timezone.now(), **fields})

    return store_now


def ask(client: APIClient, query: str = "the deployment plan", **fields: Any) -> Any:
    """The answer to a good query."""
    body = {"agent": "kyra", "query": query, **fields}
    response = client.post(QUERY, body, format="json")
    assert response.status_code == 200, response.content
    return response.json()


def texts(answer: Any) -> list[str]:
    """The bullets."""
    return [each["text"] for each in answer["results"]]


def allow(agent: Agent, *names: str) -> None:
    """Let the agent read only these."""
    Agent.objects.filter(pk=agent.pk).update(allowed_categories=list(names))


def refuse(client: APIClient, code: int, **fields: Any) -> Any:
    """The problem of a refused query."""
    body = {"agent": "kyra", "query": "plan", **fields}
    response = client.post(QUERY, body, format="json")
    assert response.status_code == code, response.content
    assert response["Content-Type"] == "application/problem+json"
    return response.json()
