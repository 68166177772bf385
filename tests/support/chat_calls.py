"""A route whose models answer at one endpoint, and what it was asked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pytest_django import Settings

from routing.clients.chat_calls import ChatRequest
from routing.models import RoutingDecision
from routing.services.calling import Answer
from routing.services.router import Route
from tests.support.cast import Cast
from tests.support.chat_models import make_models, route_of
from tests.support.openai_server import FakeOpenAI

PROMPT = "Which colour is Sarah's door?"
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "look",
            "description": "Looks at a door.",
            "parameters": {"type": "object", "properties": {"whose": {"type": "string"}}},
            "x-vendor": [1, None],
        },
    }
]


def ask(**parameters: Any) -> ChatRequest:
    return ChatRequest(messages=[{"role": "user", "content": PROMPT}], parameters=parameters)


@pytest.fixture(autouse=True)
def once(settings: Settings) -> None:
    """Every model is asked once; how one is tried again is told in test_trying_again.py."""
    settings.CHAT_RETRY_SECONDS = 0.0


@pytest.fixture
def server() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as fake:
        yield fake


@pytest.fixture
def route(acme: Cast, server: FakeOpenAI) -> Route:
    """Swift first, then steady and mighty, all of them at the server."""
    make_models(acme, server)
    return route_of(acme)


def asked(server: FakeOpenAI) -> list[str]:
    """The models that were asked, in order."""
    return [request.body["model"] for request in server.chats]


def outcome(route: Route) -> RoutingDecision:
    return RoutingDecision.objects.get(pk=route.decision_id)


def text_of(answer: Answer) -> str:
    content: str = answer.body["choices"][0]["message"]["content"]
    return content
