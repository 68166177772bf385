"""A team behind a real server, and editors that reach it by MCP."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import uuid4

import pytest
from pytest_django.live_server_helper import LiveServer

from tests.support.cast import Cast, make_cast
from tests.support.mcp_client import Editor, editor_of


@pytest.fixture(scope="module")
def server(django_db_setup: None) -> Iterator[LiveServer]:
    """The application on a port of its own, over committed rows."""
    live = LiveServer("localhost")
    yield live
    live.stop()


@pytest.fixture
def cast(committed_db: None) -> Cast:
    """A team of the test's own."""
    return make_cast(f"mcp-{uuid4().hex[:8]}")


@pytest.fixture
def editor(cast: Cast, server: LiveServer) -> Editor:
    """A client with a key of the team."""
    return editor_of(cast, server.url)


@pytest.fixture
def kyras(cast: Cast, server: LiveServer) -> Editor:
    """A client with a key that acts as Kyra."""
    return editor_of(cast, server.url, agent=cast.kyra)
