"""`make run` from the outside: real servers, real signals, the API and nothing else."""

import itertools
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil  # type: ignore[import-untyped]
import pytest

from config import embedded
from config.embedded import EmbeddedError
from config.launcher import Part, Program, only_one
from tests.support.waiting import until

ROOT = embedded.PROJECT_ROOT
# What a start or a stop may take beside other work; the launcher itself gives up after 90.
START_SECONDS = 180.0
OURS = ("PORT", "HOST", "DATABASE_", "REDIS_", "DJANGO_", "ALLOWED_", "PALIMPSEST_", "OPENAI_")


def free_port() -> int:
    """Return a port that nobody listens on, and that nobody is given who asks for any.

    Between two starts somebody else's test could have it otherwise.
    """
    while True:
        port = secrets.randbelow(10_000) + 20_000
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


class Installation:
    """A home with a port, and the launcher that runs on it."""

    def __init__(self, home: Path, *, port: int | None = None) -> None:
        self.home = home
        self.port = port or free_port()
        self.key = ""
        self.launcher: subprocess.Popen[str] | None = None
        clean = {key: value for key, value in os.environ.items() if not key.startswith(OURS)}
        self.environment = {**clean, "PALIMPSEST_HOME": str(home), "PORT": str(self.port)}
        self.output = home.with_suffix(".out")

    def start(self) -> None:
        """Start the launcher and wait until it says that it is ready."""
        with self.output.open("w") as output:
            launcher = subprocess.Popen(
                [sys.executable, "-m", "config.launcher"],
                cwd=ROOT,
                env=self.environment,
                stdout=output,
                stderr=subprocess.STDOUT,
                text=True,
                start_new_session=True,
            )
        self.launcher = launcher
        until(
            lambda: "palimpsest: ready" in self.said() or launcher.poll() is not None,
            seconds=START_SECONDS,
        )
        assert launcher.poll() is None, self.said()

    def said(self) -> str:
        """Return what the launcher has printed."""
        return self.output.read_text()

    def refused(self) -> str:
        """Start a launcher that must not come up; return its output."""
        result = subprocess.run(
            [sys.executable, "-m", "config.launcher"],
            cwd=ROOT,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=START_SECONDS,
            check=False,
        )
        assert result.returncode == 1
        return result.stdout

    def stop(self, number: int = signal.SIGINT) -> int:
        """Send a signal to the launcher and return its exit code."""
        assert self.launcher is not None
        self.launcher.send_signal(number)
        return self.launcher.wait(timeout=START_SECONDS)

    def pid(self, part: str) -> int:
        """Return the process id of `launcher`, `web`, `worker`, `postgres` or `redis`."""
        if part == "postgres":
            found = embedded.postgres_pid(self.home)
        elif part == "redis":
            found = embedded.redis_pid(self.home)
        else:
            launcher = psutil.Process(int((self.home / "run.lock").read_text()))
            lines = {each.pid: " ".join(each.cmdline()) for each in launcher.children()}
            is_part = {
                "web": lambda line: "python" in line and "celery" not in line,
                "worker": lambda line: "celery" in line and "worker" in line,
                "beat": lambda line: "celery" in line and "beat" in line,
            }
            found = (
                launcher.pid
                if part == "launcher"
                else next((pid for pid, line in lines.items() if is_part[part](line)), None)
            )
        assert found is not None
        return found

    def await_another(self, part: str, *, than: int) -> None:
        """Wait until a part runs under another process id."""

        def replaced() -> bool:
            try:
                return self.pid(part) != than
            except (AssertionError, psutil.Error):
                return False

        until(replaced)

    def processes(self) -> list[str]:
        """Return the command lines of everything that runs on this home."""
        lines = []
        for process in psutil.process_iter():
            try:
                ours = process.environ().get("PALIMPSEST_HOME") == str(self.home)
                line = " ".join(process.cmdline())
                inside = process.cwd().startswith(str(self.home))
                alive = process.status() != psutil.STATUS_ZOMBIE
            except psutil.Error:
                continue
            if alive and (ours or inside or str(self.home) in line):
                lines.append(line)
        return lines

    def manage(self, *arguments: str) -> str:
        """Run manage.py as in another shell; return what it printed."""
        result = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=START_SECONDS,
            check=False,
        )
        assert result.returncode == 0, result.stderr
        return result.stdout

    def ask(self, path: str, body: object = None) -> tuple[int, str]:
        """Send a request with this installation's key; (0, reason) when nobody answers."""
        self.key = self.key or self.manage("issue_key", "--team", "acme").strip()
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}",
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"},
        )
        try:
            with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(
                request, timeout=START_SECONDS
            ) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()
        except OSError as error:
            return 0, str(error)

    def converse(self) -> str:
        """Open a conversation; return the path of its messages."""
        status, body = self.ask("/v1/conversations", {"agent": "kyra", "user": "ada"})
        assert status == 201, body
        return f"/v1/conversations/{json.loads(body)['id']}/messages"

    def remember(self, path: str, text: str) -> None:
        """Append a message, once the server takes it."""
        message = {"role": "user", "content": text, "external_id": text}
        answers: list[tuple[int, str]] = []

        def taken() -> bool:
            answers.append(self.ask(path, {"messages": [message]}))
            return answers[-1][0] == 201

        until(taken)

    def recalls(self, path: str) -> str:
        """Return the conversation's messages."""
        status, body = self.ask(path)
        assert status == 200, body
        return body

    def extracts(self, path: str) -> str:
        """Have the worker extract the conversation; return the state of the finished job."""
        status, body = self.ask(path.replace("/messages", "/extract"), {"wait": False})
        assert status == 202, body
        job = f"/v1/jobs/{json.loads(body)['job']}"
        until(lambda: json.loads(self.ask(job)[1])["finished_at"] is not None)
        return str(json.loads(self.ask(job)[1])["state"])

    def kill_everything(self) -> None:
        """End whatever is left, the hard way."""
        for process in psutil.process_iter():
            try:
                mine = process.environ().get("PALIMPSEST_HOME") == str(self.home)
                if mine or process.cwd().startswith(str(self.home)):
                    process.kill()
            except psutil.Error:
                continue


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
def running() -> Iterator[Installation]:
    """An installation for the tests that leave it as it is."""
    with tempfile.TemporaryDirectory(prefix="palimpsest-test-") as name:
        installation = Installation(Path(name) / "home")
        try:
            installation.start()
            yield installation
            assert installation.stop(signal.SIGTERM) == 0
            until(lambda: installation.processes() == [])
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
    assert "manage.py issue_key --team acme" in said
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
    for part in PARTS:
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


def test_a_server_that_fails_to_start_is_tried_again(capsys: pytest.CaptureFixture[str]) -> None:
    def start() -> None:
        raise EmbeddedError("the disk is full")

    part = Part("Redis", start=start, is_alive=lambda: False, stop=lambda: None)
    for now in (1_000.0, 1_000.5, 1_001.0):
        part.tick(now)

    told = capsys.readouterr().out.splitlines()
    assert told[1] == "palimpsest: the disk is full"
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
