"""A client that registered itself, and people who let it in."""

from __future__ import annotations

import pytest
from django.test import Client as Browser

from memory.satellites.mcp.tests.conftest import cast, server  # noqa: F401 - fixtures
from memory.satellites.oauth.tests.signing_in import Program, browser_of
from tests.support.cast import Cast, make_cast


@pytest.fixture
def acme(db: None) -> Cast:
    """The team of most stories; nothing runs in its scope."""
    return make_cast("acme")


@pytest.fixture
def ann(acme: Cast) -> Browser:
    """The browser of Acme's admin."""
    return browser_of(acme.team, "admin", name="ann")


@pytest.fixture
def program(db: None) -> Program:
    """A registered client."""
    return Program.registered()
