"""PostgreSQL's client programs, run against the database with the owner's login."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
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


def load_in_one_transaction(*arguments: str, before: str) -> None:
    """Run the SQL `before` and then what pg_restore writes with these arguments, all or nothing.

    Raises BackupError with the last line of the program that failed or is not installed; the
    database is then as it was.
    """
    writes = [_found("pg_restore"), "--file=-", *arguments]
    # psql, because pg_restore cannot be told to do anything else in its transaction.
    runs = [_found("psql"), _database(), "--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1"]
    is_read = False
    with tempfile.TemporaryFile("w+") as of_writer, tempfile.TemporaryFile("w+") as of_reader:
        with (
            subprocess.Popen(  # noqa: S603
                writes, env=_environment(), stdout=subprocess.PIPE, stderr=of_writer
            ) as writer,
            subprocess.Popen(  # noqa: S603
                [*runs, "--file=-"],
                env=_environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=of_reader,
            ) as reader,
        ):
            assert writer.stdout is not None
            assert reader.stdin is not None
            with suppress(BrokenPipeError), reader.stdin as script:  # psql says why it ended
                script.write(f"BEGIN;\n{before}\n".encode())
                shutil.copyfileobj(writer.stdout, script)
                is_read = True
                # Without it, whatever ends this process or one of those changes nothing.
                if writer.wait() == 0:
                    script.write(b"COMMIT;\n")
            writer.stdout.close()
        # Who failed first: the other one could not go on.
        both = [("psql", reader, of_reader), ("pg_restore", writer, of_writer)]
        for program, process, said in reversed(both) if is_read else both:
            if process.returncode:
                said.seek(0)
                raise _failure(program, said.read())


def _database() -> str:
    return f"--dbname={connections['owner'].connection.info.dsn}"  # without the password


def _environment() -> dict[str, str]:
    password = connections["owner"].connection.info.password
    return {**os.environ, "PGPASSWORD": password, "LC_ALL": "C"}


def _failure(program: str, said: str) -> BackupError:
    lines = said.strip().splitlines() or ["no message"]
    errors = [line for line in lines if "ERROR:" in line]  # psql goes on with hints and places
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
