"""Good requests to spoil, and what a refusal must be."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.utils import timezone

from audit.models import MemoryLog
from memory.domain.audience import Viewer
from memory.models import Job, Memory, SearchEntry
from memory.satellites.tasks.services import begin_task
from teams.models import Agent, Conversation, EndUser, Message, Project
from tests import factories
from tests.support.cast import Cast

JSON = "application/json"
NOBODY = "01920000-0000-7000-8000-00000000dead"
PROBLEM = "application/problem+json"
LONG = "x" * 32_001
STORED = (Agent, EndUser, Project, Conversation, Message, Memory, SearchEntry, MemoryLog, Job)
Answer = Any  # a response of the test client


def counts() -> dict[str, int]:
    """Returns the number of the team's rows in each table that a request may write to."""
    return {model.__name__: model._default_manager.count() for model in STORED}


def assert_problem(response: Answer, *, codes: tuple[int, ...] = (400, 404, 422)) -> dict[str, Any]:
    """The problem document of a refusal."""
    assert response.status_code in codes, response.content[:500]
    assert response["Content-Type"] == PROBLEM
    body: dict[str, Any] = json.loads(response.content)
    assert body["status"] == response.status_code
    assert body["title"]
    assert body["detail"]
    return body


@pytest.fixture
def conversation(acme: Cast) -> Conversation:
    """A conversation to post to."""
    return factories.ConversationFactory.create(
        team=acme.team, agent=acme.kyra, end_user=acme.sarah
    )


@pytest.fixture
def memory(acme: Cast) -> Memory:
    """A memory to act on."""
    return factories.MemoryFactory.create(team=acme.team)


@pytest.fixture
def paths(acme: Cast, conversation: Conversation, memory: Memory) -> dict[str, str]:
    """The addresses that take a body, by name."""
    viewer = Viewer(acme.team.pk, "test")
    begin_task(viewer=viewer, now=timezone.now(), task_id="t", agent="kyra")
    return {
        "conversations": "/v1/conversations",
        "messages": f"/v1/conversations/{conversation.pk}/messages",
        "extract": f"/v1/conversations/{conversation.pk}/extract",
        "memories": "/v1/memories",
        "pin": f"/v1/memories/{memory.pk}/pin",
        "retrieve": "/v1/retrieve",
        "query": "/v1/memory/query",
        "package": "/v1/context/package",
    }


@pytest.fixture
def nothing_stored(paths: dict[str, str]) -> Iterator[None]:
    """Fails the test when a request stored something."""
    before = counts()
    yield
    assert counts() == before


GOOD: dict[str, dict[str, Any]] = {
    "conversations": {"agent": "kyra", "user": "sarah"},
    "messages": {"messages": [{"role": "user", "content": "Hello."}]},
    "extract": {"wait": True},
    "memories": {"content": "Sarah lives in Berlin."},
    "pin": {"pinned": True},
    "retrieve": {"agent": "kyra", "query": "Where does Sarah live?"},
    "query": {"agent": "kyra", "query": "Where does Sarah live?", "filters": {"pinned": False}},
    "package": {"agent": "kyra", "task": "t", "shares": {"task": 0.5}},
}


def label(value: Any) -> str:
    """The value as a part of a test's name."""
    text = ascii(value)
    return text if len(text) <= 24 else f"{text[:20]}...{len(text)}"
