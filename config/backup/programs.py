"""PostgreSQL's client programs, run against the database with the owner's login."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.conf import settings
from django.db import connections

from config import embedded
from config.backup.manifest import BackupError
from config.embedded.postgres import binaries_folder


@contextmanager
def embedded_servers() -> Iterator[None]:
    """Have the home's PostgreSQL and Redis run for the block, where no others are configured.

    What runs already goes on afterwards; what was started here is stopped.
    """
    home = settings.HOME
    owns_redis = not os.environ.get("REDIS_URL")
    start_postgres = settings.HAS_OWN_POSTGRES and embedded.postgres_pid(home) is None
    start_redis = owns_redis and embedded.redis_pid(home) is None
    if start_postgres:
        socket_folder = embedded.start_postgres(home, database=_parameters()["dbname"])
        for connection in connections.all():
            connection.settings_dict["HOST"] = str(socket_folder)
    if start_redis:
        embedded.start_redis(home)
    try:
        yield
    finally:
        for connection in connections.all():
            connection.close()
        if start_redis:
            embedded.stop_redis(home)
        if start_postgres:
            embedded.stop_postgres(home)


def run_client(program: str, *arguments: str, names_database: bool = True) -> str:
    """Run pg_dump or pg_restore to its end as the owner; returns what it printed.

    Raises BackupError with its last line when it fails or is not installed.
    """
    login = [_database()] if names_database else []
    done = subprocess.run(  # noqa: S603
        [_found(program), *login, *arguments],
        env=_environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise _failure(program, done.stderr)
    return done.stdout


def _database() -> str:
    return f"--dbname={connections['owner'].connection.info.dsn}"  # without the password


def _environment() -> dict[str, str]:
    password = connections["owner"].connection.info.password
    return {**os.environ, "PGPASSWORD": password, "LC_ALL": "C"}


def _failure(program: str, said: str) -> BackupError:
    lines = said.strip().splitlines() or ["no message"]
    errors = [line for line in lines if "error:" in line.lower()]  # the statement follows
    return BackupError(f"{program} failed: {(errors or lines)[-1]}")


def _found(program: str) -> str:
    """Where the program is: the embedded server's own, else the one on PATH."""
    if settings.HAS_OWN_POSTGRES:
        return str(binaries_folder() / program)
    found = shutil.which(program)
    if found is None:
        raise BackupError(
            f"{program} is not installed here: install PostgreSQL's client programs, of the"
            " server's version or a newer one."
        )
    return found


def _parameters() -> dict[str, Any]:  # Any: Django's own loose shape
    return dict(connections["owner"].get_connection_params())
