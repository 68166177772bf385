"""The migrated database, of which each process of a run has a copy.

It is made once for each state of the migrations. The embedded cluster that holds it is kept in
`build/test-cluster`, of which each process starts a copy; a server of DATABASE_URL keeps it as a
database. Processes share no embedded server, because the seals of the log wait for every
transaction of a server, whichever its database: they would wait for another process's tests.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

import psycopg
from django.conf import settings
from django.core.management import call_command
from django.db import connections
from psycopg import sql
from psycopg.conninfo import make_conninfo

from config import embedded
from config.embedded.paths import PROJECT_ROOT, exclusive
from config.embedded.postgres import hand_over

_APPS = ("audit", "memory", "routing", "teams")
# Files that decide what the migrations make, below the folder of an app and elsewhere.
_OF_APPS = ("**/migrations/*.py", "**/sql/*.sql", "**/models/*.py", "*.py")
_OTHERS = ("config/embedded/*.py", "requirements/dev.txt", "tests/support/clean_database.py")
_CACHE = PROJECT_ROOT / "build" / "test-cluster"
# A copy is deleted at the end, so a power cut may corrupt it. Whether a commit waits for the log is
# left as in production, as some tests look at that; without fsync the wait costs nothing.
_CLUSTER_SETTINGS = {"fsync": "off", "full_page_writes": "off", "min_wal_size": "32MB"}
# Caches of a process are kept by ids, so that no id may come twice.
_IDS_APART = 1_000_000


def conninfo_of(alias: str) -> str:
    """Returns psycopg's connection string for a Django alias, with its login, without options."""
    given = connections[alias].get_connection_params()
    names = ("dbname", "user", "password", "host", "port")
    return make_conninfo(**{name: given[name] for name in names if name in given})


def maintenance_login() -> str:
    """Conninfo of a login that may create databases, to another database than the tests' own."""
    if not settings.HAS_OWN_POSTGRES:
        return conninfo_of("owner")
    folder = str(embedded.postgres_socket_dir(embedded.home()))
    return make_conninfo(host=folder, port=5432, user="postgres", dbname="postgres")


@cache
def template_name() -> str:
    """Name of the migrated database that nothing writes to, by what its migrations consist of."""
    digest = hashlib.sha256()
    paths = [path for app in _APPS for each in _OF_APPS for path in (PROJECT_ROOT / app).glob(each)]
    paths += [path for each in _OTHERS for path in PROJECT_ROOT.glob(each)]
    for path in sorted(set(paths)):
        digest.update(f"{path.relative_to(PROJECT_ROOT)}\n".encode() + path.read_bytes())
    return f"palimpsest_test_{digest.hexdigest()[:16]}"


class CleanDatabase:
    """The process's copy of the migrated database, and the way back to it.

    Tests that need several connections commit, and the guarantees forbid to delete what they
    wrote. Their rows, and whatever a thread of theirs still does, must not be found by another
    file: which files share a process is different in each run.
    """

    def __init__(self) -> None:
        self.changed = False
        self._name = os.environ["PALIMPSEST_DATABASE"]
        self._restored = 0
        if settings.HAS_OWN_POSTGRES:
            _start_cluster()
        self._maintenance = maintenance_login()
        if not settings.HAS_OWN_POSTGRES:
            _ensure_template(self._maintenance)
        self._copy()
        point_at(self._name)

    def restore(self) -> None:
        """Replaces a changed database by the clean one, whoever is still connected to it."""
        if not self.changed:
            return
        self._copy()
        self.changed = False
        self._restored += 1
        with connections["owner"].cursor() as cursor:
            cursor.execute(
                "SELECT setval(format('%%I.%%I', schemaname, sequencename)::regclass, %s)"
                " FROM pg_sequences WHERE schemaname = 'public'",
                [self._restored * _IDS_APART],
            )
        connections["owner"].close()

    def remove(self) -> None:
        """Drops the copy on a server that goes on; the run's own is deleted as a whole."""
        _close_connections()
        if not settings.HAS_OWN_POSTGRES:
            drop_database(self._name, login=self._maintenance)

    def _copy(self) -> None:
        _close_connections()
        create_database(self._name, template=template_name(), login=self._maintenance)


def _start_cluster() -> None:
    """Starts a copy of the cluster with the template; makes that first, where no run has."""
    home, kept = embedded.home(), _CACHE / template_name()
    with exclusive(_CACHE / "lock"):
        if not kept.exists():
            _make_cluster(home, kept)
        _copy_folder(kept, home / "postgres")
    hand_over(home / "postgres")
    folder = embedded.start_postgres(home, database="postgres")
    point_at("postgres", host=str(folder))


def _make_cluster(home: Path, kept: Path) -> None:
    """Migrates a database in a new cluster of the home, and moves that to the cache."""
    folder = embedded.start_postgres(home, database=template_name())
    point_at(template_name(), host=str(folder))
    call_command("migrate", verbosity=0)
    _close_connections()
    with psycopg.connect(maintenance_login(), autocommit=True) as connection:
        for name, value in _CLUSTER_SETTINGS.items():
            change = sql.SQL("ALTER SYSTEM SET {} = {}")
            connection.execute(change.format(sql.Identifier(name), sql.Literal(value)))
    embedded.stop_postgres(home)
    for old in _CACHE.iterdir():
        if old.is_dir():
            shutil.rmtree(old)
    _copy_folder(home / "postgres", kept.with_suffix(".new"))
    kept.with_suffix(".new").rename(kept)
    shutil.rmtree(home / "postgres")


def _copy_folder(source: Path, target: Path) -> None:
    """Copies with owners, as PostgreSQL of the superuser runs as somebody else."""
    target.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["cp", "-pR", source, target], check=True)


def _ensure_template(maintenance: str) -> None:
    """Makes the template on a server that others use, too; later runs find it there."""
    made, new = template_name(), f"{template_name()}_new"
    with psycopg.connect(maintenance, autocommit=True) as connection:
        connection.execute("SELECT pg_advisory_lock(hashtext('palimpsest_test'))")
        named = "SELECT FROM pg_database WHERE datname = %s"
        if connection.execute(named, [made]).fetchone():
            return
        create_database(new, template="template1", login=maintenance)
        point_at(new)
        call_command("migrate", verbosity=0)
        _close_connections()
        rename = sql.SQL("ALTER DATABASE {} RENAME TO {}")
        connection.execute(rename.format(sql.Identifier(new), sql.Identifier(made)))


def create_database(name: str, *, template: str, login: str) -> None:
    """Creates a database of the owner as a copy of another, in place of one of that name."""
    drop_database(name, login=login)
    owner = connections["owner"].settings_dict["USER"]
    names = (sql.Identifier(each) for each in (name, template, owner))
    with psycopg.connect(login, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {} TEMPLATE {} OWNER {}").format(*names))


def drop_database(name: str, *, login: str) -> None:
    """Drops a database, whoever is connected to it."""
    drop = sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name))
    with psycopg.connect(login, autocommit=True) as connection:
        connection.execute(drop)


def _close_connections() -> None:
    for connection in connections.all():
        connection.close()


def point_at(name: str, *, host: str | None = None) -> None:
    """Lets every connection of this process go to a database."""
    _close_connections()
    for alias in connections:
        connections[alias].settings_dict["NAME"] = name
        if host is not None:
            connections[alias].settings_dict["HOST"] = host
