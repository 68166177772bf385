"""A server on a port of its own over committed rows, and mem0's clients with keys of a team."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from uuid import uuid4

import pytest
from pytest_django.live_server_helper import LiveServer
from pytest_django.plugin import DjangoDbBlocker

from teams.models import Agent
from teams.services.keys import issue_key
from teams.tenancy import team_scope
from tests.support.cast import Cast, make_cast
from tests.support.mem0_clients import KINDS, Mem0

# Makes a client with a new key of a team, bound to an agent where one is given.
Clients = Callable[..., Mem0]


@pytest.fixture(scope="module")
def server(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[LiveServer]:
    """The site on a port of its own, over committed rows.

    It may still end a request when the test that sent it is over.
    """
    with django_db_blocker.unblock():
        live = LiveServer("localhost")
        yield live
        live.stop()


@pytest.fixture
def team(committed_db: None) -> Cast:
    """A team of its own for each test, as rows stay until the file ends."""
    return make_cast(f"acme-{uuid4().hex[:8]}")


@pytest.fixture
def stranger(committed_db: None) -> Cast:
    """Another team."""
    return make_cast(f"globex-{uuid4().hex[:8]}")


@pytest.fixture
def mem0_of(server: LiveServer) -> Iterator[Clients]:
    """Makes clients, and closes them after the test."""
    made: list[Mem0] = []

    def build(
        cast: Cast, kind: str = "sync", *, agent: Agent | None = None, is_read_only: bool = False
    ) -> Mem0:
        with team_scope(team_ids=[cast.team.id], actor="test"):
            issued = issue_key(team_id=cast.team.id, agent=agent, is_read_only=is_read_only)
        made.append(Mem0(kind, key=issued.token, url=server.url))
        return made[-1]

    yield build
    for each in made:
        each.close()


@pytest.fixture(params=KINDS)
def mem0(request: pytest.FixtureRequest, team: Cast, mem0_of: Clients) -> Mem0:
    """The synchronous and the asynchronous client with a key of the team."""
    return mem0_of(team, request.param)
