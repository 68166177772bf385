"""Kyra behind a real server, a model behind her, and the official client in front."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import openai
import pytest
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from teams.tenancy import team_scope
from tests.support.cast import make_cast
from tests.support.chat import Ask, Town
from tests.support.chat_models import make_models
from tests.support.openai_server import FakeOpenAI


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
