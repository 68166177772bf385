"""A whole installation of a test's own: real servers, real signals, the API and nothing else."""

import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import psutil  # type: ignore[import-untyped]

from config import embedded
from config.embedded import PROJECT_ROOT
from tests.support.waiting import PATIENCE_SECONDS, until

# What a start or a stop may take beside other work; the launcher itself gives up after 90.
START_SECONDS = 180.0
CHECKOUT = (sys.executable, "manage.py")
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
    """A home with a port, and the launcher that runs on it.

    `command` is the program, the checkout's by default, and `folder` where it is started.
    """

    def __init__(
        self, home: Path, *, command: Sequence[str] = CHECKOUT, folder: Path = PROJECT_ROOT
    ) -> None:
        self.home = home
        self.command, self.folder = command, folder
        self.port = free_port()
        self.key = ""
        self.launcher: subprocess.Popen[str] | None = None
        clean = {key: value for key, value in os.environ.items() if not key.startswith(OURS)}
        own = {"PALIMPSEST_HOME": str(home), "PORT": str(self.port), "WEB_CONCURRENCY": "1"}
        self.environment = {**clean, **own}
        self.output = home.with_suffix(".out")

    def start(self) -> None:
        """Start the launcher and wait until it says that it is ready."""
        with self.output.open("w") as output:
            launcher = subprocess.Popen(
                [*self.command, "serve"],
                cwd=self.folder,
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
            [*self.command, "serve"],
            cwd=self.folder,
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
                "web": lambda line: "config.web_server" in line,
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
        """Wait until a part runs under another process id; fails with what the launcher said."""

        def replaced() -> bool:
            try:
                return self.pid(part) != than
            except (AssertionError, psutil.Error):
                return False

        try:
            until(replaced)
        except AssertionError as error:
            raise AssertionError(f"{part} does not come back:\n{self.said()}") from error

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
        """Run a command as in another shell; return what it printed."""
        result = self._run(*arguments)
        assert result.returncode == 0, result.stderr
        return result.stdout

    def output_of(self, *arguments: str) -> str:
        """Return what a command printed, whether or not it succeeded."""
        result = self._run(*arguments)
        return result.stdout + result.stderr

    def _run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*self.command, *arguments],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=START_SECONDS,
            check=False,
        )

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

    def extracts(self, path: str, *, seconds: float = PATIENCE_SECONDS) -> str:
        """Have the worker extract the conversation; return the state of the finished job."""
        status, body = self.ask(path.replace("/messages", "/extract"), {"wait": False})
        assert status == 202, body
        job = f"/v1/jobs/{json.loads(body)['job']}"
        until(lambda: json.loads(self.ask(job)[1])["finished_at"] is not None, seconds=seconds)
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
