"""gunicorn with our worker and an application that answers with its process."""

from __future__ import annotations

import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psutil  # type: ignore[import-untyped]

from tests.support.waiting import until

# Answers with the process that answers; what is asked says more: to read the body, to wait until a
# file is there, to note that it was asked, to answer at length.
_APPLICATION = """
import os, pathlib, time

FOLDER = pathlib.Path(__file__).parent

def application(environ, start):
    path = environ["PATH_INFO"]
    body = b"%8d" % os.getpid()
    if path == "/echo":
        body = environ["wsgi.input"].read()
    elif path == "/wait":
        (FOLDER / "began").touch()
        while not (FOLDER / "go_on").exists():
            time.sleep(0.01)
    elif path == "/note":
        (FOLDER / "noted").touch()
    elif path == "/long":
        body = b"x" * 3_000_000
    start("200 OK", [("Content-Length", str(len(body)))])
    return [body]
"""


@dataclass
class Server:
    """Processes of gunicorn on one socket, with a folder for what they note."""

    address: tuple[str, int]
    master: psutil.Process
    folder: Path
    lines: ExitStack = field(default_factory=ExitStack)

    @property
    def workers(self) -> list[int]:
        """The processes that answer."""
        return [each.pid for each in self.master.children()]

    def line(self, sent: bytes = b"") -> socket.socket:
        """A new connection, which stays, with these bytes sent."""
        line = self.lines.enter_context(socket.create_connection(self.address, timeout=60))
        line.sendall(sent)
        return line

    def ask(self, path: bytes = b"/", headers: bytes = b"") -> int:
        """Which process answers on a new connection, which stays."""
        sent = b"GET %s HTTP/1.1\r\nHost: test\r\n%s\r\n" % (path, headers)
        return int(answer(self.line(sent))[1])


def answer(line: socket.socket) -> tuple[int, bytes]:
    """The status and body of the next answer on a connection."""
    came = b""
    while b"\r\n\r\n" not in came:
        piece = line.recv(4096)
        assert piece, "the connection was closed"
        came += piece
    head, _, body = came.partition(b"\r\n\r\n")
    length = next(
        int(each.partition(b":")[2])
        for each in head.split(b"\r\n")
        if each.lower().startswith(b"content-length")
    )
    while len(body) < length:
        body += line.recv(65536)
    return int(head.split()[1]), body[:length]


@contextmanager
def web_server(*settings: str, workers: int = 2, threads: int = 2) -> Iterator[Server]:
    """A server with further lines of configuration, such as other limits of our modules."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = free.getsockname()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "told.py").write_text(_APPLICATION)
        lines = (
            "from config import receiving, web_worker",
            "worker_class = 'config.web_worker.WebWorker'",
            f"workers, threads, keepalive = {workers}, {threads}, 120",
            "control_socket_disable, sendfile = True, False",
            *settings,
        )
        (folder / "conf.py").write_text("\n".join(lines))
        command = [sys.executable, "-m", "gunicorn", "told:application", "-c", f"{folder}/conf.py"]
        command += ["-b", f"{address[0]}:{address[1]}", "--pythonpath", name]
        process = subprocess.Popen(
            command, cwd=Path(__file__).parents[2], stderr=subprocess.DEVNULL
        )
        found = Server(address, psutil.Process(process.pid), folder)
        try:
            until(lambda: len(found.workers) == workers and _answers(found))
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
