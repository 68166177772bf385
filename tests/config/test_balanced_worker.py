"""A server's processes share what connects to them, and none waits for another that is stuck."""

from __future__ import annotations

import os
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import psutil  # type: ignore[import-untyped]
import pytest
from gunicorn.config import Config  # type: ignore[import-untyped]

from config import web_worker
from config.web_worker import Connections, WebWorker
from tests.support.waiting import until

CLIENTS = 8
# Answers with the process that answers, and needs nothing else.
_APPLICATION = """
import os

def application(environ, start):
    start("200 OK", [("Content-Length", "8")])
    return [b"%8d" % os.getpid()]
"""


@dataclass
class Server:
    """Two processes of gunicorn on one socket."""

    address: tuple[str, int]
    master: psutil.Process
    lines: ExitStack = field(default_factory=ExitStack)

    @property
    def workers(self) -> list[int]:
        """The processes that answer."""
        return [each.pid for each in self.master.children()]

    def ask(self) -> int:
        """Which process answers on a new connection, which stays."""
        line = self.lines.enter_context(socket.create_connection(self.address, timeout=60))
        line.sendall(b"GET / HTTP/1.1\r\nHost: test\r\n\r\n")
        came = b""
        while len(came.partition(b"\r\n\r\n")[2]) < 8:
            piece = line.recv(4096)
            assert piece, "the connection was closed"
            came += piece
        return int(came.partition(b"\r\n\r\n")[2])


@pytest.fixture
def server() -> Iterator[Server]:
    """One with long pauses, so that a slow machine behaves like a quick one."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = free.getsockname()
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "told.py").write_text(_APPLICATION)
        conf = Path(folder, "conf.py")
        conf.write_text(
            "from config import web_worker\n"
            "web_worker.PAUSE_SECONDS = 0.5\n"
            "worker_class = 'config.web_worker.WebWorker'\n"
            "workers, threads, keepalive, control_socket_disable = 2, 2, 120, True\n"
        )
        command = [sys.executable, "-m", "gunicorn", "told:application", "-c", str(conf)]
        command += ["-b", f"{address[0]}:{address[1]}", "--pythonpath", folder]
        process = subprocess.Popen(
            command, cwd=Path(__file__).parents[2], stderr=subprocess.DEVNULL
        )
        found = Server(address, psutil.Process(process.pid))
        try:
            until(lambda: len(found.workers) == 2 and _answers(found))
            yield found
        finally:
            found.lines.close()
            process.kill()
            for worker in found.master.children():
                worker.kill()
            process.wait()


def _answers(server: Server) -> bool:
    try:
        with socket.create_connection(server.address, timeout=5):
            return True
    except OSError:
        return False


def test_a_process_with_fewer_connections_takes_the_next_ones(server: Server) -> None:
    """One is stuck for a while, and the other one holds nobody up: it takes all of them."""
    first, second = server.workers
    os.kill(second, signal.SIGSTOP)
    taken = [server.ask() for _ in range(CLIENTS)]
    assert taken == [first] * CLIENTS

    os.kill(second, signal.SIGCONT)
    until(lambda: server.ask() == second)
    taken = [server.ask() for _ in range(CLIENTS - 2)]

    # One may come while the first process has just waited long enough.
    assert taken.count(second) >= len(taken) - 1


def test_processes_that_have_ended_are_not_waited_for() -> None:
    connections = Connections()
    connections.record(1, 5)
    connections.record(2, 0)
    assert connections.least() == 0

    connections.forget(2)
    assert connections.least() == 5

    connections.forget(1)
    assert connections.least() == 0


def test_a_server_that_stops_leaves_the_rest_to_the_others() -> None:
    web_worker.CONNECTIONS.record(7, 3)
    worker = WebWorker(7, os.getpid(), [], None, 30, Config(), None)
    worker.method_queue.init()
    worker.poller = selectors.DefaultSelector()
    worker.alive = False

    worker.wait_for_and_dispatch_events(0.0)

    assert web_worker.CONNECTIONS.least() == 0
