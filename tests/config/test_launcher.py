"""`make run` and the installed wheels from the outside: real servers, real signals, the API."""

import itertools
import os
import signal
import socket
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

import psutil  # type: ignore[import-untyped]
import pytest

from config.embedded import PROJECT_ROOT, EmbeddedError
from config.launcher import Part, Program, only_one
from tests.support.examples import few_of
from tests.support.installation import Installation, free_port
from tests.support.packages import build_wheels, install
from tests.support.waiting import until


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="palimpsest-test-") as name:
        yield Path(name)


@pytest.fixture
def installation(folder: Path) -> Iterator[Installation]:
    installation = Installation(folder / "home")
    yield installation
    installation.kill_everything()


@pytest.fixture(scope="module")
def wheels() -> Iterator[list[Path]]:
    with tempfile.TemporaryDirectory(prefix="palimpsest-test-") as name:
        yield build_wheels(Path(name))


@pytest.fixture(scope="module")
def running(wheels: list[Path]) -> Iterator[Installation]:
    """The installed wheels, for the tests that leave the server as it is."""
    with tempfile.TemporaryDirectory(prefix="palimpsest-test-") as name:
        empty = Path(name) / "empty"
        empty.mkdir()
        program = install(wheels, into=Path(name) / "venv")
        installation = Installation(Path(name) / "home", command=[str(program)], folder=empty)
        try:
            installation.start()
            yield installation
            assert installation.stop(signal.SIGTERM) == 0
            until(lambda: installation.processes() == [])
            assert not list(empty.iterdir())
        finally:
            installation.kill_everything()


PARTS = ("web", "worker", "beat", "postgres", "redis")


def test_its_data_is_there_after_every_end_and_nothing_else_is_left(
    running: Installation, installation: Installation
) -> None:
    """One installation through a stop, a kill of each part, of all, and of the launcher alone.

    Each start takes many seconds, so that a test for each of these would take minutes.
    """
    installation.start()
    said = installation.said()
    assert f"http://127.0.0.1:{installation.port}/v1/docs" in said
    assert f"PALIMPSEST_HOME={installation.home} " in said
    assert "manage.py key --team acme" in said
    assert "manage.py createsuperuser" in said
    path = installation.converse()
    told = ["I moved to Lisbon"]
    installation.remember(path, told[0])
    worker = psutil.Process(installation.pid("worker"))
    assert len(worker.children()) == 2

    # Beside another installation.
    assert running.ask(path)[0] == 404
    own, installation.key = installation.key, running.key
    assert installation.ask(path)[0] == 401
    installation.key = own

    # Every part that is killed comes back.
    for part in few_of(PARTS, every=3):
        killed = installation.pid(part)
        os.kill(killed, signal.SIGKILL)
        installation.await_another(part, than=killed)
        installation.remember(path, f"after {part}")
        told.append(f"after {part}")
    assert installation.extracts(path) == "done"

    assert installation.stop(signal.SIGINT) == 0
    until(lambda: installation.processes() == [])

    installation.start()
    assert all(each in installation.recalls(path) for each in told)
    for pid in [installation.pid(part) for part in ("launcher", *PARTS)]:
        os.kill(pid, signal.SIGKILL)
    assert installation.launcher is not None
    installation.launcher.wait()

    installation.start()
    assert all(each in installation.recalls(path) for each in told)
    os.kill(installation.pid("launcher"), signal.SIGKILL)
    installation.launcher.wait()
    until(lambda: installation.processes() == [])


POST = """
import sys
from palimpsest_client import Palimpsest

with Palimpsest(sys.argv[1], sys.argv[2]) as client:
    talk = client.conversations.create(agent="kyra", user="ada")
    said = {"role": "user", "content": "I like tea."}
    client.conversations.add_messages(talk.id, messages=[said])
    print([each.content for each in client.conversations.messages(talk.id)])
"""


def test_the_wheel_holds_what_the_apps_have_but_tests_and_documents(wheels: list[Path]) -> None:
    apps = ("audit", "config", "memory", "routing", "teams", "templates")
    files = [path for app in apps for path in (PROJECT_ROOT / app).rglob("*") if path.is_file()]
    wanted = {
        path.relative_to(PROJECT_ROOT).as_posix()
        for path in files
        if not {"tests", "__pycache__"} & set(path.parts) and path.name != "docs.md"
    }

    server = next(each for each in wheels if "server" in each.name)
    held = {name for name in ZipFile(server).namelist() if ".dist-info/" not in name}

    assert held == {f"palimpsest_server/{name}" for name in {*wanted, "manage.py"}}
    assert {Path(name).suffix for name in held} >= {".css", ".html", ".lua", ".onnx", ".sql"}


def test_the_installed_program_and_client_work(running: Installation) -> None:
    said = running.said()
    assert "palimpsest key --team acme" in said
    assert "manage.py" not in said

    python = Path(running.command[0]).with_name("python")
    key = running.manage("key", "--team", "acme").strip()
    told = subprocess.run(
        [python, "-c", POST, f"http://127.0.0.1:{running.port}", key],
        cwd=running.folder,
        env=running.environment,
        capture_output=True,
        text=True,
    )
    assert (told.stdout, told.stderr) == ("['I like tea.']\n", "")
    assert running.ask("/static/teams/admin/site.css")[0] == 200
    assert running.ask("/admin/login/")[0] == 200
    running.manage("healthcheck")

    # A worker may not have had its first task yet.
    reports: list[str] = []

    def is_well() -> bool:
        reports.append(running.output_of("doctor"))
        return reports[-1].endswith("\nNothing is wrong.\n")

    until(is_well)
    assert "ok     The small models are complete" in reports[-1]


SLEEP = "import time; time.sleep(60)"


def has_ended(pid: int) -> bool:
    """Returns whether a process has ended, collected or not."""
    try:
        return bool(psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True


@pytest.fixture
def lock(tmp_path: Path) -> Iterator[int]:
    """A descriptor that programs inherit."""
    with (tmp_path / "lock").open("w") as file:
        yield file.fileno()


def test_a_part_that_keeps_failing_is_given_longer_and_longer_pauses() -> None:
    starts: list[float] = []
    now = 1_000.0
    part = Part("web", start=lambda: starts.append(now), is_alive=lambda: False, stop=lambda: None)
    while len(starts) < 9:
        part.tick(now)
        now += 0.25

    pauses = [after - before for before, after in itertools.pairwise(starts)]
    assert pauses == sorted(pauses)
    assert (pauses[0], pauses[-1]) == (1.25, 30.25)  # and a tick, in which it is found dead


def test_a_part_that_ran_for_long_is_started_again_soon() -> None:
    is_dead, starts = [True], []
    part = Part("web", start=lambda: starts.append(1), is_alive=lambda: not is_dead, stop=print)
    for now in range(100):
        part.tick(1_000.0 + now)
    is_dead.clear()
    part.tick(2_000.0)
    is_dead.append(True)
    count = len(starts)

    part.tick(2_000.0)
    part.tick(2_000.5)

    assert len(starts) == count + 1


@pytest.mark.parametrize("kind", [EmbeddedError, OSError, subprocess.SubprocessError])
def test_a_server_that_fails_to_start_is_tried_again(
    kind: type[Exception], capsys: pytest.CaptureFixture[str]
) -> None:
    def start() -> None:
        raise kind("the disk is full")

    part = Part("Redis", start=start, is_alive=lambda: False, stop=lambda: None)
    for now in (1_000.0, 1_000.5, 1_001.0):
        part.tick(now)

    told = capsys.readouterr().out.splitlines()
    assert told[1] == "palimpsest: Redis: the disk is full"
    assert told[2] == "palimpsest: Redis has ended; starting it again in 1.0 s"


def test_the_rest_of_a_dead_program_s_group_is_killed(tmp_path: Path, lock: int) -> None:
    written = tmp_path / "pid"
    code = (
        "import pathlib, subprocess, sys, time;"
        f"p = subprocess.Popen([sys.executable, '-c', '{SLEEP}']);"
        f"pathlib.Path({str(written)!r}).write_text(f'{{p.pid}} '); time.sleep(60)"
    )
    program = Program("-c", code, lock=lock)
    program.start()
    until(lambda: written.exists() and written.read_text().endswith(" "))
    assert program.process is not None
    program.process.kill()
    until(lambda: not program.is_alive())

    program.stop()

    until(lambda: has_ended(int(written.read_text())))


def test_stopping_lets_a_program_finish_its_work(tmp_path: Path, lock: int) -> None:
    work = tmp_path / "work"
    code = (
        "import pathlib, signal, sys, time\n"
        f"work = pathlib.Path({str(work)!r})\n"
        "def finish(*_): time.sleep(0.3); work.write_text('done'); sys.exit()\n"
        "signal.signal(signal.SIGTERM, finish); work.touch(); time.sleep(60)"
    )
    program = Program("-c", code, lock=lock)
    program.start()
    until(work.exists)

    program.stop()

    assert work.read_text() == "done"
    assert not program.is_alive()


def test_a_launcher_waits_for_the_programs_of_one_that_was_killed(tmp_path: Path) -> None:
    with only_one(tmp_path) as lock:
        program = Program("-c", SLEEP, lock=lock)
        program.start()
    # Its launcher has ended.
    (tmp_path / "run.lock").write_text("")
    taken = threading.Event()

    def take() -> None:
        with only_one(tmp_path):
            taken.set()

    waiting = threading.Thread(target=take)
    waiting.start()
    was_free = taken.wait(0.5)
    program.stop()
    waiting.join()

    assert (was_free, taken.is_set()) == (False, True)


def test_the_home_is_for_its_owner_alone(running: Installation) -> None:
    assert (running.home / "secret_key").stat().st_mode & 0o777 == 0o600
    for path in (running.home, running.home / "logs", running.home / "redis"):
        assert path.stat().st_mode & 0o066 == 0, path


def test_a_second_start_on_the_same_home_says_so_in_one_line(running: Installation) -> None:
    assert running.launcher is not None

    said = running.refused()

    assert said.count("\n") == 1
    assert f"already running on {running.home} (process {running.launcher.pid})" in said
    assert running.ask("/healthz")[0] == 200


def test_a_port_in_use_is_said_in_one_line(installation: Installation) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", installation.port))
        taken.listen()

        said = installation.refused()

    assert said.count("\n") == 1
    assert f"cannot listen on 127.0.0.1:{installation.port}" in said
    assert installation.processes() == []


@pytest.mark.parametrize("port", ["abc", "0", "65536", "-1", "80 80"])
def test_a_port_that_is_none_is_said_in_one_line(installation: Installation, port: str) -> None:
    installation.environment["PORT"] = port

    said = installation.refused()

    assert said == f"palimpsest: PORT must be a number from 1 to 65535, not {port!r}\n"


def test_a_number_of_workers_that_is_none_is_said_in_one_line(installation: Installation) -> None:
    installation.environment["WORKER_CONCURRENCY"] = "0"

    said = installation.refused()

    assert said == "palimpsest: WORKER_CONCURRENCY must be a number from 1 to 10000, not '0'\n"


def test_a_database_that_does_not_answer_ends_the_start_without_leftovers(
    installation: Installation,
) -> None:
    url = f"postgresql://nobody@127.0.0.1:{free_port()}/nothing"
    installation.environment["DATABASE_URL"] = url

    said = installation.refused()

    assert "manage.py migrate failed" in said
    assert not (installation.home / "postgres").exists()
    until(lambda: installation.processes() == [])
