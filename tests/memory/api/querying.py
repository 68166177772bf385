"""Questions by `POST /v1/memory/query`, and what a team remembers for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from memory.clients.tools import Tools
from memory.domain.types import MemoryType
from memory.domain.viewer import Viewer
from memory.models import Memory
from memory.services.writing.drafts import MemoryDraft
from memory.services.writing.write_path import write_memories
from teams.models import Agent
from tests.conftest import Cast

QUERY = "/v1/memory/query"
Remember = Callable[..., list[Memory]]


@pytest.fixture
def remember(acme: Cast, tools: Tools) -> Remember:
    """Stores memories of Acme as given."""

    def store(*contents: str, **fields: Any) -> list[Memory]:
        drafts = [
            MemoryDraft(
                **{
                    "team_id": acme.team.id,
                    "content": content,
                    "memory_type": MemoryType.SEMANTIC,
                    "importance": 5,
                    "extractor": "test",
                    "created_at": timezone.now(),
                    "check": False,
                    **fields,
                }
            )
            for content in contents
        ]
        viewer = Viewer(team_id=acme.team.id, actor="test")
        return [each.memory for each in write_memories(viewer=viewer, drafts=drafts, tools=tools)]

    return store


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
