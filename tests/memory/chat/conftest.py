"""Kyra behind a real server, a model behind her, and the official client in front."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import openai
import pytest
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer
from rest_framework.test import APIClient

from teams.models import Agent, Conversation, Message
from teams.services.keys import issue_key
from teams.tenancy import team_scope
from tests.conftest import Cast, make_cast
from tests.openai_server import FakeOpenAI
from tests.routing.models import make_models


@pytest.fixture(scope="module")
def server(django_db_setup: None) -> Iterator[LiveServer]:
    """The application on a port of its own, over committed rows."""
    live = LiveServer("localhost")
    yield live
    live.stop()


@pytest.fixture(autouse=True)
def once(settings: Settings) -> None:
    """Every model is asked once, so that the scripts of its endpoint can be counted on."""
    settings.CHAT_RETRY_SECONDS = 0.0


@pytest.fixture
def model() -> Iterator[FakeOpenAI]:
    """The endpoint that answers."""
    with FakeOpenAI() as fake:
        yield fake


@dataclass(frozen=True)
class Town:
    """A team of its own, where its clients reach it, and what its log holds."""

    cast: Cast
    url: str

    def client(self, *, agent: Agent | None = None, **options: Any) -> openai.OpenAI:
        """The official client with a new key; it tries nothing again unless told to."""
        with team_scope(team_ids=[self.cast.team.id], actor="test"):
            token = issue_key(team_id=self.cast.team.id, agent=agent).token
        given = {"max_retries": 0, "timeout": 30.0, **options}
        return openai.OpenAI(base_url=f"{self.url}/v1", api_key=token, **given)

    def remember(self, content: str, **more: Any) -> str:
        """A memory of Sarah, stored as anybody stores one; returns its id."""
        with team_scope(team_ids=[self.cast.team.id], actor="test"):
            token = issue_key(team_id=self.cast.team.id).token
        api = APIClient()
        api.credentials(HTTP_AUTHORIZATION=f"Bearer {token}")
        body = {"content": content, "agent": "kyra", "user": "sarah", **more}
        return str(api.post("/v1/memories", body, format="json").json()["id"])

    def said(self, thread: str | None = None) -> list[tuple[str, str]]:
        """Roles and texts of a thread's log, or of all that the team's logs hold."""
        return [(row.role, row.content) for row in self.rows(thread)]

    def rows(self, thread: str | None = None) -> list[Message]:
        """The same as rows."""
        with team_scope(team_ids=[self.cast.team.id], actor="test"):
            rows = Message.objects.filter(team=self.cast.team)
            if thread is not None:
                rows = rows.filter(conversation__thread_id=thread)
            return list(rows.order_by("conversation__created_at", "position"))

    def conversations(self) -> list[Conversation]:
        """All of the team."""
        with team_scope(team_ids=[self.cast.team.id], actor="test"):
            return list(Conversation.objects.filter(team=self.cast.team).order_by("created_at"))


@pytest.fixture
def bare(server: LiveServer, committed_db: None) -> Town:
    """A team without any model."""
    return Town(make_cast(f"chat-{uuid4().hex[:8]}"), server.url)


@pytest.fixture
def town(bare: Town, model: FakeOpenAI) -> Town:
    """A team whose models answer at the endpoint."""
    with team_scope(team_ids=[bare.cast.team.id], actor="test"):
        make_models(bare.cast, model)
    return bare


@pytest.fixture
def client(town: Town) -> openai.OpenAI:
    """The official client."""
    return town.client()


Ask = Callable[..., Any]


@pytest.fixture
def ask(client: openai.OpenAI) -> Ask:
    """Ask Kyra in a thread: texts are the user's, or whole messages."""

    def send(*messages: str | dict[str, Any], thread: str | None = "t", **options: Any) -> Any:
        # Any: the client's own overloads
        sent: Any = [
            {"role": "user", "content": each} if isinstance(each, str) else each
            for each in messages
        ]
        given = {"model": "kyra", "user": "sarah", **options}
        if thread is not None:
            given.setdefault("metadata", {"thread_id": thread})
        return client.chat.completions.create(messages=sent, **given)

    return send


def assistant(text: str) -> dict[str, str]:
    """An answer as clients send it back."""
    return {"role": "assistant", "content": text}


def user(text: str) -> dict[str, str]:
    """A question."""
    return {"role": "user", "content": text}
