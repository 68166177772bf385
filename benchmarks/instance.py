"""A server of a benchmark's own: everything that `make run` starts, and its commands."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress

import psutil  # type: ignore[import-untyped]

from config import web_server
from config.embedded import PROJECT_ROOT
from config.healthcheck import is_healthy

_START_SECONDS = 120
# One process for all: to start one takes longer than the rest.
ISSUE = """
import sys
import django
django.setup()
from benchmarks.ground import scope_of
from memory.domain.audience import Viewer
from teams.services.keys import issue_key
from teams.services.people import create_team
for slug in sys.argv[1:]:
    team = create_team(slug=slug, name=slug, actor="benchmark").pk
    with scope_of(Viewer(team_id=team, actor="benchmark")):
        print(issue_key(team_id=team).token)
"""


@contextmanager
def everything(environment: Mapping[str, str]) -> Iterator[psutil.Process]:
    """The launcher, once what it starts listens on PORT; it ends with the block."""
    command = [sys.executable, "manage.py", "serve"]
    launcher = subprocess.Popen(command, cwd=PROJECT_ROOT, env=dict(environment), stdout=sys.stderr)
    try:
        for _ in range(_START_SECONDS * 10):
            with (
                suppress(OSError),
                socket.create_connection(("127.0.0.1", int(environment["PORT"])), 1.0),
            ):
                break
            if launcher.poll() is not None:
                raise RuntimeError("The launcher ended before it served.")
            time.sleep(0.1)
        else:
            raise RuntimeError(f"Nothing listened within {_START_SECONDS} seconds.")
        yield psutil.Process(launcher.pid)
    finally:
        launcher.send_signal(signal.SIGINT)
        launcher.wait()


def run_command(arguments: list[str], environment: Mapping[str, str]) -> str:
    """Returns the output of a command of the project; CalledProcessError where it fails."""
    command = [sys.executable, *arguments]
    done = subprocess.run(
        command, cwd=PROJECT_ROOT, env=dict(environment), capture_output=True, text=True, check=True
    )
    return done.stdout


def issue_keys(environment: Mapping[str, str], *teams: str) -> list[str]:
    """A new key of each team, which is made."""
    return run_command(["-c", ISSUE, *teams], environment).split()


def free_port() -> int:
    """A port that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


@contextmanager
def own_server(*, workers: int) -> Iterator[int]:
    """The port of a web server, set up as `make run` does, for as long as it is needed."""
    port = free_port()
    command = web_server.command(host="127.0.0.1", port=port)
    sizes = {"WEB_CONCURRENCY": str(workers), "WEB_THREADS": "8", "DATABASE_POOL_SIZE": "12"}
    server = subprocess.Popen(command, env={**os.environ, **sizes})
    try:
        until = time.monotonic() + _START_SECONDS
        while not is_healthy(host="127.0.0.1", port=port):
            if server.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"the web server does not answer (status {server.poll()}).")
            time.sleep(0.1)
        yield port
    finally:
        server.terminate()
        server.wait()
