"""A real database, a real Redis, and the fixed cast of the tests."""

from __future__ import annotations

import gc
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator

TEST_DATABASE = "palimpsest_test" + os.environ.get("PYTEST_XDIST_WORKER", "")
_MODELS = (
    "OPENAI_",
    "EMBEDDING_",
    "EXTRACTION_MODEL",
    "REVIEW_MODEL",
    "JUDGE_MODEL",
    "EPISODE_MODEL",
    "INSIGHT_MODEL",
    "CLASSIFIER_",
    "CHAT_",
    "PROVIDER_KEY_",
)


def _choose_services() -> None:
    """Point the settings at servers of this run's own before Django reads them.

    With DATABASE_URL or REDIS_URL set, that server is used, with a database of its own; else
    embedded ones are started in a temporary home, so that runs side by side do not meet.
    """
    from django.conf import settings as read

    if read.configured:
        raise SystemExit(
            "The settings were read before the tests chose a database of their own, so they would"
            " write into yours: unset DJANGO_SETTINGS_MODULE and try again."
        )
    # Set here and not in pyproject.toml: pytest-django would read the settings before this file.
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    os.environ["PALIMPSEST_ENV"] = "test"
    os.environ["DATABASE_POOL_SIZE"] = "0"
    os.environ.pop("DATABASE_REPLICA_URL", None)
    os.environ["PALIMPSEST_HOME"] = tempfile.mkdtemp(prefix="palimpsest-test-")
    os.environ["PALIMPSEST_DATABASE"] = TEST_DATABASE
    os.environ["REDIS_PREFIX"] = f"palimpsest-test-{os.getpid()}"
    for name in [each for each in os.environ if each.startswith(_MODELS)]:
        del os.environ[name]
    from config import embedded

    home = embedded.home()
    if not os.environ.get("DATABASE_URL"):
        embedded.start_postgres(home, database=TEST_DATABASE)
        _write_without_waiting_for_the_disk(embedded.postgres_socket_dir(home))
    if not os.environ.get("REDIS_URL"):
        embedded.start_redis(home)


def _write_without_waiting_for_the_disk(socket_folder: object) -> None:
    """Let the run's own server forget what a power cut would take: it is deleted at the end.

    The tests that kill a server start one of their own, with the settings of production.
    """
    import psycopg

    with psycopg.connect(
        host=str(socket_folder), port=5432, user="postgres", dbname="postgres", autocommit=True
    ) as connection:
        for name in ("fsync", "full_page_writes"):
            connection.execute(f"ALTER SYSTEM SET {name} = off")
        connection.execute("SELECT pg_reload_conf()")


_choose_services()

import django  # noqa: E402

django.setup()

import hypothesis  # noqa: E402
import pytest  # noqa: E402
from django.conf import settings  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.db import connections  # noqa: E402
from django_redis import get_redis_connection  # noqa: E402
from psycopg.conninfo import make_conninfo  # noqa: E402
from pytest_django.plugin import DjangoDbBlocker  # noqa: E402
from rest_framework.test import APIClient  # noqa: E402

from config import embedded  # noqa: E402
from memory.domain.audience import Viewer  # noqa: E402
from memory.services.indexing.message_index import finish_indexing  # noqa: E402
from memory.understanding.tools import Tools, default_tools  # noqa: E402
from teams.models import Agent, EndUser  # noqa: E402
from teams.services.keys import issue_key  # noqa: E402
from teams.tenancy import team_scope  # noqa: E402
from tests.support.cast import Cast, make_cast  # noqa: E402
from tests.support.clean_database import CleanDatabase, conninfo_of  # noqa: E402

# What is slow on a busy machine is no counterexample.
hypothesis.settings.register_profile(
    "unhurried", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("unhurried")

# Each test's client would look at every static file anew before its first request.
settings.WHITENOISE_AUTOREFRESH = True

# The usual one takes a fifth of a second for each login of the admin's tests.
settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]

_DATABASE = pytest.StashKey[CleanDatabase]()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes() -> None:
    """Let the processes of the run choose services of their own before they read the settings."""
    del os.environ["DJANGO_SETTINGS_MODULE"]


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    _leave_out_of_collections()


def _leave_out_of_collections() -> None:
    """Let no collection of garbage walk through what stays for the whole run: a second each."""
    gc.collect()
    gc.freeze()


def pytest_unconfigure() -> None:
    """Stop the embedded servers of this run and remove their home."""
    home = embedded.home()
    for connection in connections.all():
        connection.close()
    embedded.stop_postgres(home)
    embedded.stop_redis(home)
    shutil.rmtree(home, ignore_errors=True)


@pytest.fixture(scope="session")
def clean_database(
    request: pytest.FixtureRequest, django_db_blocker: DjangoDbBlocker
) -> Iterator[CleanDatabase]:
    """The tests' database with its two roles, migrated by the owner as in production.

    Django's own test database would belong to one role and hide what the application's may not.
    """
    with django_db_blocker.unblock():
        database = CleanDatabase(name=TEST_DATABASE, maintenance=_maintenance_login())
        if os.environ.get("DATABASE_URL"):
            _own_database_on_the_given_server()
        call_command("migrate", verbosity=0)
        database.keep()
    _leave_out_of_collections()
    request.session.stash[_DATABASE] = database
    yield database
    database.remove()


def _maintenance_login() -> str:
    """How to reach a database that is not the tests' own, as somebody who may create some."""
    if not os.environ.get("DATABASE_URL"):
        folder = str(embedded.postgres_socket_dir(embedded.home()))
        return make_conninfo(host=folder, port=5432, user="postgres", dbname="postgres")
    return conninfo_of("owner")


def _own_database_on_the_given_server() -> None:
    """Create a database of this process beside the one of DATABASE_URL and use that."""
    with connections["owner"].cursor() as cursor:
        cursor.execute(f"DROP DATABASE IF EXISTS {TEST_DATABASE} WITH (FORCE)")
        cursor.execute(f"CREATE DATABASE {TEST_DATABASE}")
    for alias in connections:
        connections[alias].close()
        connections[alias].settings_dict["NAME"] = TEST_DATABASE
        settings.DATABASES[alias]["NAME"] = TEST_DATABASE


@pytest.fixture(scope="session")
def django_db_setup(clean_database: CleanDatabase) -> None:
    """What pytest-django asks for before the first test with a database."""


@pytest.fixture(autouse=True, scope="module")
def a_file_leaves_nothing_behind(
    request: pytest.FixtureRequest, django_db_blocker: DjangoDbBlocker
) -> Iterator[None]:
    """Whatever a file committed, the next one begins with the migrated database."""
    yield
    database = request.session.stash.get(_DATABASE, None)
    if database is not None:
        with django_db_blocker.unblock():
            database.restore()


@pytest.fixture(autouse=True)
def empty_redis() -> None:
    """No counter of one test is seen by the next."""
    client = get_redis_connection("default")
    for key in client.scan_iter(f"{settings.REDIS_PREFIX}:*"):
        client.delete(key)


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
