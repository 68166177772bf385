"""A team behind a real server, and both of our clients in front of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable, Iterator
from dataclasses import dataclass
from inspect import isawaitable
from typing import Any
from uuid import uuid4

import pytest
from palimpsest_client import AsyncPalimpsest, Palimpsest
from pytest_django.live_server_helper import LiveServer

from teams.models import Agent
from teams.services.keys import issue_key
from teams.tenancy import team_scope
from tests.support.cast import Cast, make_cast

RETRIES = 2


@dataclass(frozen=True)
class Place:
    """A team of its own, and where its clients reach it."""

    cast: Cast
    url: str

    def key(self, agent: Agent | None = None, *, is_read_only: bool = False) -> str:
        """A new key of the team."""
        with team_scope(team_ids=[self.cast.team.id], actor="test"):
            team = self.cast.team.id
            return issue_key(team_id=team, agent=agent, is_read_only=is_read_only).token


@dataclass(frozen=True)
class Either:
    """One of the two clients, so that a test holds for both."""

    client: Any  # Any: what they have in common is what the tests say
    runner: asyncio.Runner

    def __call__(self, act: Callable[[Any], Any]) -> Any:
        """Returns the result of `act`: an answer, or all of a list or a stream."""
        return self.runner.run(self._whole(act))

    async def _whole(self, act: Callable[[Any], Any]) -> Any:
        given = act(self.client)
        if isinstance(given, Awaitable) or isawaitable(given):
            return await given
        if isinstance(given, AsyncGenerator | AsyncIterable):
            return [each async for each in given]
        return list(given) if hasattr(given, "__next__") or hasattr(given, "pages") else given


@pytest.fixture(scope="module")
def server(django_db_setup: None) -> Iterator[LiveServer]:
    """The application on a port of its own, over committed rows."""
    live = LiveServer("localhost")
    yield live
    live.stop()


@pytest.fixture
def place(server: LiveServer, committed_db: None) -> Place:
    """A team that nothing is known of yet."""
    return Place(make_cast(f"clients-{uuid4().hex[:8]}"), server.url)


# What makes a client for an address and a key.
Connect = Callable[..., Either]


@pytest.fixture(params=[Palimpsest, AsyncPalimpsest], ids=["blocking", "async"])
def connect(request: pytest.FixtureRequest) -> Iterator[Connect]:
    """Makes one of both clients; all are closed at the end."""
    made: list[Either] = []
    with asyncio.Runner() as runner:

        def build(url: str, key: str, **settings: Any) -> Either:  # Any: those of the client
            client = request.param(url, key, **{"retries": RETRIES, **settings})
            made.append(Either(client, runner))
            return made[-1]

        yield build
        for each in made:
            each(lambda client: client.aclose() if hasattr(client, "aclose") else client.close())


@pytest.fixture
def ask(connect: Connect, place: Place) -> Either:
    """A client with a key of the team."""
    return connect(place.url, place.key())
