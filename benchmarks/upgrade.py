"""An upgrade while clients write and read: two versions side by side through one migration.

Run as ``python -m benchmarks.upgrade``. It checks out the commit before the latest new migration
(``--old`` names another one) beside this one, starts PostgreSQL, Redis, and that version's web
server, worker and scheduler, stores ``--memories``, and has clients write and read. Then it runs
this version's `migrate` while the old servers serve, starts its servers beside them, moves the
clients over, and stops the old ones, the scheduler last. Prints the answers of each phase, lines of
errors in the logs, and writes that are lost or stored twice. Ends with status 1 where a request
failed, a write was lost, or an error was logged.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread

from benchmarks.instance import ISSUE, free_port
from benchmarks.kills import Acknowledged, Writer, missing
from benchmarks.texts import Texts
from config import embedded
from config.embedded import PROJECT_ROOT
from config.healthcheck import is_healthy

_START_SECONDS = 180.0
_STOP_SECONDS = 90.0
_ANSWER_SECONDS = 60.0
_DONE = (200, 201)
_MIGRATIONS = ":(glob)**/migrations/0*.py"
_FILL = """
import sys
import django
django.setup()
from django.utils import timezone
from benchmarks.ground import statements
from benchmarks.texts import Texts
from memory.domain.audience import Viewer
from memory.understanding.tools import default_tools
from memory.writing.stating import remember
from teams.services.people import team_id_of_slug
viewer = Viewer(team_id=team_id_of_slug(sys.argv[1]), actor="benchmark")
texts, left = Texts(1), int(sys.argv[2])
while left > 0:
    stated = statements(texts, min(left, 500))
    remember(viewer=viewer, stated=stated, tools=default_tools(), now=timezone.now())
    left -= len(stated)
"""
_FAILED_JOBS = """
import django
django.setup()
from django.db import connections
with connections["owner"].cursor() as cursor:
    cursor.execute("SELECT state, count(*) FROM memory_job GROUP BY 1")
    print(dict(cursor.fetchall()))
"""


@dataclass(slots=True)
class Reader:
    """An agent that asks."""

    port: int
    key: str
    seed: int
    told: Acknowledged

    def run(self, stop: Event) -> None:
        """Ask until told to stop."""
        texts, chance = Texts(self.seed), random.Random(self.seed)
        while not stop.is_set():
            body = {"agent": "kyra", "query": texts.remark()}
            requests = (
                ("retrieve", "POST", "/v1/retrieve", body),
                ("prompt", "POST", "/v1/prompt", body),
                ("list", "GET", "/v1/memories?limit=20", None),
            )
            self._call(*chance.choice(requests))

    def _call(self, request: str, method: str, path: str, body: object) -> None:
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        status = 0
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=_ANSWER_SECONDS)
        with closing(line), suppress(OSError, http.client.HTTPException):
            line.request(method, path, json.dumps(body) if body else None, headers)
            response = line.getresponse()
            response.read()
            status = response.status
        self.told.note(request, status)


@dataclass(slots=True)
class Version:
    """The programs of one version, in a folder of its code."""

    name: str
    code: Path
    home: Path
    port: int = field(default_factory=free_port)
    running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        """Both versions use the servers of one home; each counts its own requests."""
        metrics = self.home / f"metrics-{self.name}"
        metrics.mkdir(exist_ok=True)
        own = {"PALIMPSEST_HOME": str(self.home), "PORT": str(self.port), "WEB_CONCURRENCY": "1"}
        return {**os.environ, **own, "PROMETHEUS_MULTIPROC_DIR": str(metrics)}

    def run(self, *arguments: str) -> str:
        """Runs a command of this version; CalledProcessError where it fails."""
        command = [sys.executable, *arguments]
        done = subprocess.run(
            command, cwd=self.code, env=self.environment, check=True, stdout=subprocess.PIPE
        )
        return done.stdout.decode()

    def start(self, *parts: str) -> None:
        """Starts web server, worker or scheduler, and waits until the web server answers."""
        celery = ["-m", "celery", "-A", "config", "--quiet"]
        schedule = ["-s", str(self.home / f"schedule-{self.name}"), "--pidfile="]
        commands = {
            "web": ["-m", "config.web_server", "127.0.0.1", str(self.port)],
            "worker": [
                *(*celery, "worker", "--loglevel=warning", "--concurrency=1"),
                *("-n", f"{self.name}@%h"),
            ],
            "beat": [*celery, "beat", "--loglevel=warning", *schedule],
        }
        for part in parts:
            with (self.home / f"{self.name}-{part}.log").open("ab") as log:
                self.running[part] = subprocess.Popen(
                    [sys.executable, *commands[part]],
                    cwd=self.code,
                    env=self.environment,
                    stdout=log,
                    stderr=log,
                )
        deadline = time.monotonic() + _START_SECONDS
        while not is_healthy(host="127.0.0.1", port=self.port):
            if time.monotonic() > deadline or self.running["web"].poll() is not None:
                said = (self.home / f"{self.name}-web.log").read_text(errors="replace")
                raise RuntimeError(f"the {self.name} web server does not answer: {said[-2000:]}")
            time.sleep(0.2)

    def stop(self, *parts: str) -> None:
        """Lets them end what is under way, as an orchestrator does."""
        for part in parts:
            self.running[part].terminate()
        for part in parts:
            self.running.pop(part).wait(_STOP_SECONDS)

    def kill(self) -> None:
        """Ends what is left."""
        for each in self.running.values():
            each.kill()
            each.wait()

    def errors(self) -> list[str]:
        """Lines of errors in the logs of its programs."""
        marks = ("ERROR", "CRITICAL", "Traceback")
        return [
            f"{log.name}: {line}"
            for log in sorted(self.home.glob(f"{self.name}-*.log"))
            for line in log.read_text(errors="replace").splitlines()
            if any(mark in line for mark in marks)
        ]


def main() -> int:
    """Run, print, and tell by the status whether nothing failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--old", help="a commit; the one before the latest new migration")
    parser.add_argument("--memories", type=int, default=20_000)
    parser.add_argument("--writers", type=int, default=4)
    parser.add_argument("--readers", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=15.0, help="of each phase")
    options = parser.parse_args()
    with _checkout(options.old or _before_latest_migration()) as code, _servers() as home:
        old, new = Version("old", code, home), Version("new", PROJECT_ROOT, home)
        try:
            wrong = _upgrade(old, new, options)
        finally:
            old.kill()
            new.kill()
    return 1 if wrong else 0


def _upgrade(old: Version, new: Version, options: argparse.Namespace) -> bool:
    old.run("manage.py", "migrate", "--noinput", "--verbosity", "0")
    key = old.run("-c", ISSUE, "upgrade").strip()
    old.run("-c", _FILL, "upgrade", str(options.memories))
    old.start("web", "worker", "beat")
    told, stop = Acknowledged(), Event()
    writers = [Writer(port=old.port, key=key, seed=n, told=told) for n in range(options.writers)]
    readers = [
        Reader(port=old.port, key=key, seed=100 + n, told=told) for n in range(options.readers)
    ]
    clients: list[Writer | Reader] = [*writers, *readers]
    threads = [Thread(target=each.run, args=(stop,)) for each in clients]
    for each in threads:
        each.start()
    try:
        phases = _Phases(told)
        stop.wait(options.seconds)
        phases.end("old servers alone")
        started = time.monotonic()
        new.run("manage.py", "migrate", "--noinput", "--verbosity", "0")
        print(f"migrate took {time.monotonic() - started:.1f} s")
        phases.end("while the new version migrates")
        stop.wait(options.seconds)
        phases.end("old servers on the new schema")
        new.start("web", "worker")
        for moved in clients[::2]:
            moved.port = new.port
        stop.wait(options.seconds)
        phases.end("both versions side by side")
        for moved in clients:
            moved.port = new.port
        stop.wait(2.0)  # for what is under way at the old one
        old.stop("web", "worker", "beat")
        new.start("beat")
        stop.wait(options.seconds)
        phases.end("new servers alone")
    finally:
        stop.set()
        for each in threads:
            each.join()
    lost = missing(told, new.environment)
    print(f"jobs: {new.run('-c', _FAILED_JOBS).strip()}")
    print(f"the log: {new.run('manage.py', 'verify_log').strip()}")
    new.stop("web", "worker", "beat")
    errors = [*old.errors(), *new.errors()]
    print(f"lines of errors in the logs: {len(errors)}")
    for line in errors[:20]:
        print(f"  {line}")
    for what, count in lost.items():
        print(f"{what}: {count}")
    print(f"failed requests: {phases.failed}")
    return bool(errors or phases.failed or any(lost.values()))


class _Phases:
    """Answers phase by phase, and how many were failures."""

    def __init__(self, told: Acknowledged) -> None:
        self._told, self._before, self.failed = told, Counter[tuple[str, int]](), 0
        self._since = time.monotonic()

    def end(self, name: str) -> None:
        """Prints the answers since the last phase ended."""
        now = Counter(self._told.answers)
        answers = now - self._before
        failures = {each: n for each, n in answers.items() if _is_failure(*each)}
        seconds = time.monotonic() - self._since
        print(f"{name}: {answers.total():,} answers in {seconds:.0f} s, failed: {failures or 0}")
        self._before, self._since = now, time.monotonic()
        self.failed += sum(failures.values())


def _is_failure(request: str, status: int) -> bool:
    # A checked write whose neighbours changed meanwhile is sent again, in every version.
    return status not in _DONE and not (request in ("memory", "keyed") and status == 409)


def _before_latest_migration() -> str:
    git = ["git", "log", "-1", "--diff-filter=A", "--format=%H", "--", _MIGRATIONS]
    found = subprocess.run(git, cwd=PROJECT_ROOT, check=True, stdout=subprocess.PIPE)
    return f"{found.stdout.decode().strip()}^"


@contextmanager
def _checkout(commit: str) -> Iterator[Path]:
    """The code of a commit in a folder of its own."""
    folder = Path(tempfile.mkdtemp(prefix="upgrade-code-"))
    git = ["git", "worktree", "add", "--quiet", "--detach", str(folder / "old"), commit]
    subprocess.run(git, cwd=PROJECT_ROOT, check=True)
    try:
        yield folder / "old"
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run(["git", "worktree", "prune"], cwd=PROJECT_ROOT, check=True)


@contextmanager
def _servers() -> Iterator[Path]:
    """A home whose PostgreSQL and Redis run."""
    with tempfile.TemporaryDirectory(prefix="upgrade-") as folder:
        home = Path(folder)
        embedded.start_postgres(home)
        embedded.start_redis(home)
        (home / "secret_key").write_text("one secret for both versions of the benchmark")
        try:
            yield home
        finally:
            embedded.stop_redis(home)
            embedded.stop_postgres(home)


if __name__ == "__main__":
    sys.exit(main())
