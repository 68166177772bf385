"""A real database, a real Redis, and the fixed cast of the tests."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator

import pytest
from django.conf import settings
from django.db import connections
from django_redis import get_redis_connection
from pytest_django.plugin import DjangoDbBlocker
from rest_framework.test import APIClient

from config import embedded
from memory.domain.audience import Viewer
from memory.understanding.tools import Tools, default_tools
from memory.writing.indexing.message_index import finish_indexing
from teams.models import Agent, EndUser
from teams.services.keys import issue_key
from teams.tenancy import team_scope
from tests.support.cast import Cast, make_cast
from tests.support.clean_database import CleanDatabase

# Each test's client would look at every static file anew before its first request.
settings.WHITENOISE_AUTOREFRESH = True

# The usual one takes a fifth of a second for each login of the admin's tests.
settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


def pytest_unconfigure() -> None:
    """Stop the embedded servers of this process and remove their home."""
    home = embedded.home()
    for connection in connections.all():
        connection.close()
    embedded.stop_postgres(home)
    embedded.stop_redis(home)
    shutil.rmtree(home, ignore_errors=True)


_DATABASE = pytest.StashKey[CleanDatabase]()
# Fixtures of which each test with rows has one.
_OF_ROWS = {"db", "committed_db", "django_db_setup"}


@pytest.fixture(scope="session")
def redis_server() -> None:
    """The Redis of this process; tests with a database have it, any other asks for it."""
    if not os.environ.get("REDIS_URL"):
        embedded.start_redis(embedded.home())


@pytest.fixture(autouse=True)
def empty_redis(request: pytest.FixtureRequest) -> None:
    """Clears the counters of the test before, for a test that may use Redis."""
    if not _OF_ROWS.isdisjoint(request.fixturenames) or "redis_server" in request.fixturenames:
        request.getfixturevalue("redis_server")
        client = get_redis_connection("default")
        if keys := list(client.scan_iter(f"{settings.REDIS_PREFIX}:*", count=1000)):
            client.delete(*keys)


@pytest.fixture(scope="session")
def clean_database(
    request: pytest.FixtureRequest, django_db_blocker: DjangoDbBlocker
) -> Iterator[CleanDatabase]:
    """The process's copy of the migrated database with its two roles, as in production.

    Django's own test database would belong to one role and hide what the application's may not.
    """
    with django_db_blocker.unblock():
        database = CleanDatabase()
        request.session.stash[_DATABASE] = database
        yield database
        database.remove()


@pytest.fixture(scope="session")
def django_db_setup(clean_database: CleanDatabase) -> None:
    """Replaces pytest-django's own set-up of a database."""


@pytest.fixture(autouse=True, scope="module")
def a_file_leaves_nothing_behind(
    request: pytest.FixtureRequest, django_db_blocker: DjangoDbBlocker
) -> Iterator[None]:
    """Restores the migrated database after a file that committed rows."""
    yield
    database = request.session.stash.get(_DATABASE, None)
    if database is not None:
        with django_db_blocker.unblock():
            database.restore()


@pytest.fixture
def committed_db(
    clean_database: CleanDatabase, django_db_blocker: DjangoDbBlocker
) -> Iterator[None]:
    """The database without a transaction around the test, for what needs several connections.

    Its rows stay until the file ends: the guarantees forbid to delete them, and each test has
    teams of its own.
    """
    clean_database.changed = True
    with django_db_blocker.unblock():
        yield
        # Or it would ask the database while no test may.
        finish_indexing()
        for connection in connections.all():
            connection.close()


@pytest.fixture
def acme(db: None) -> Iterator[Cast]:
    """The team of most stories; the test itself runs in its scope."""
    cast = make_cast("acme")
    with team_scope(team_ids=[cast.team.id], actor="test"):
        yield cast


@pytest.fixture
def globex(db: None) -> Cast:
    """The other team, which must never see the first one's rows."""
    return make_cast("globex")


@pytest.fixture
def kyra(acme: Cast) -> Agent:
    """Acme's first agent."""
    return acme.kyra


@pytest.fixture
def luke(acme: Cast) -> Agent:
    """Acme's second agent."""
    return acme.luke


@pytest.fixture
def sarah(acme: Cast) -> EndUser:
    """A person who talks with Acme's agents."""
    return acme.sarah


@pytest.fixture
def dmitri(acme: Cast) -> EndUser:
    """Another person."""
    return acme.dmitri


@pytest.fixture
def viewer(acme: Cast) -> Viewer:
    """Acme as a whole."""
    return Viewer(team_id=acme.team.id, actor="test")


@pytest.fixture(scope="session")
def tools() -> Tools:
    """The rules and the embedded embedder, as without any setting."""
    return default_tools()


@pytest.fixture
def client_of() -> Callable[..., APIClient]:
    """An API client with a new key of a cast's team, bound to `agent` where one is given."""

    def build(cast: Cast, agent: Agent | None = None) -> APIClient:
        with team_scope(team_ids=[cast.team.id], actor="test"):
            token = issue_key(team_id=cast.team.id, agent=agent).token
        client = APIClient()
        client.credentials(HTTP_AUTHORIZATION=f"Bearer {token}")
        return client

    return build


@pytest.fixture
def api(acme: Cast, client_of: Callable[..., APIClient]) -> APIClient:
    """A client with a key of Acme, bound to no agent."""
    return client_of(acme)
