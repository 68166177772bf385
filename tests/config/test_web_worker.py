"""A server's processes: what they read, what they refuse, and how they share connections."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import psutil  # type: ignore[import-untyped]
import pytest
from waitress.adjustments import Adjustments  # type: ignore[import-untyped]

from config.web_requests import Request
from config.web_worker import Connections
from tests.support.waiting import until

CLIENTS = 8
SLOW_CLIENTS = 40
POST = b"POST /length HTTP/1.1\r\nHost: test\r\n"
# Needs nothing, and waits for files where a test decides how long something takes.
_APPLICATION = """
import os, time
from pathlib import Path

HERE = Path(__file__).parent

def wait_for(name):
    while not (HERE / name).exists():
        time.sleep(0.01)

def pieces():
    try:
        yield b"first"
        wait_for("second")
        while True:
            yield b"more"
            time.sleep(0.01)
    finally:
        (HERE / "closed").touch()

def application(environ, start):
    path = environ["PATH_INFO"]
    if path == "/refused":
        start("401 Unauthorized", [("Content-Length", "8")])
        return [b"refused."]
    if path == "/pieces":
        start("200 OK", [])
        return pieces()
    if path.endswith("/slow"):
        (HERE / f"begun-{time.monotonic_ns()}").touch()
        wait_for("finish")
    said = b"%8d" % (len(environ["wsgi.input"].read()) if path == "/length" else os.getpid())
    start("200 OK", [("Content-Length", "8")])
    return [said]
"""


@dataclass
class Server:
    """A gunicorn and its processes on one socket."""

    address: tuple[str, int]
    folder: Path
    master: psutil.Process
    lines: ExitStack = field(default_factory=ExitStack)

    @property
    def workers(self) -> list[int]:
        """The processes that answer."""
        return [each.pid for each in self.master.children()]

    @property
    def begun(self) -> int:
        """How many slow requests have begun."""
        return len(list(self.folder.glob("begun-*")))

    def send(self, sent: bytes) -> socket.socket:
        """A new connection, on which this was sent."""
        line = self.lines.enter_context(socket.create_connection(self.address, timeout=60))
        line.sendall(sent)
        return line

    def ask(self) -> int:
        """Which process answers on a new connection, which stays."""
        return int(answer(self.send(b"GET / HTTP/1.1\r\nHost: test\r\n\r\n")))


def answer(line: socket.socket) -> bytes:
    """The eight bytes with which the application answers."""
    came = b""
    while len(came.partition(b"\r\n\r\n")[2]) < 8:
        piece = line.recv(4096)
        assert piece, came
        came += piece
    return came.partition(b"\r\n\r\n")[2]


def refusal(line: socket.socket) -> tuple[int, dict[str, object]]:
    """Status and problem document of an answer after which the server hangs up."""
    came = b"".join(iter(lambda: line.recv(4096), b""))
    head, _, body = came.partition(b"\r\n\r\n")
    assert b"application/problem+json" in head
    return int(head.split()[1]), json.loads(body)


@contextmanager
def serving(**settings: object) -> Iterator[Server]:
    """A gunicorn with these settings of `config.web_worker` and of its own, in small letters."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = free.getsockname()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "told.py").write_text(_APPLICATION)
        lines = ["from config import web_worker", "worker_class = 'config.web_worker.WebWorker'"]
        for key, value in {"control_socket_disable": True, **settings}.items():
            lines.append(f"{'web_worker.' if key.isupper() else ''}{key} = {value!r}")
        (folder / "conf.py").write_text("\n".join(lines))
        command = [sys.executable, "-m", "gunicorn", "told:application", "-c"]
        command += [str(folder / "conf.py"), "-b", f"{address[0]}:{address[1]}"]
        process = subprocess.Popen(
            [*command, "--pythonpath", name],
            cwd=Path(__file__).parents[2],
            env={**os.environ, "MAX_BODY_BYTES": "2000000"},
            stderr=subprocess.DEVNULL,
        )
        found = Server(address, folder, psutil.Process(process.pid))
        workers: list[psutil.Process] = []
        try:
            until(lambda: len(found.workers) == settings.get("workers", 1) and _answers(found))
            workers = found.master.children()
            yield found
        finally:
            found.lines.close()
            process.kill()
            for worker in workers:
                if worker.is_running():
                    worker.kill()
            process.wait()


def _answers(server: Server) -> bool:
    try:
        with socket.create_connection(server.address, timeout=5):
            return True
    except OSError:
        return False


@pytest.fixture(scope="module")
def shared() -> Iterator[Server]:
    """One process with one thread, for tests that leave it as it is."""
    with serving(threads=1) as server:
        yield server


@pytest.fixture
def server(shared: Server) -> Iterator[Server]:
    """The shared one; what a test has connected is closed afterwards."""
    yield shared
    shared.lines.close()


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        POST,
        POST + b"Content-Length: 900\r\n\r\n{",
        POST + b"Transfer-Encoding: chunked\r\n\r\n400\r\n{",
        POST + b"Content-Length: 1900000\r\n\r\n" + b" " * 10_000,
    ],
    ids=["nothing", "half a header", "half a body", "half a chunk", "half a large body"],
)
def test_clients_that_never_finish_hold_nobody_up(server: Server, sent: bytes) -> None:
    for _ in range(SLOW_CLIENTS):
        server.send(sent)

    assert server.ask() == server.workers[0]


def test_a_body_in_chunks_is_read_whole(server: Server) -> None:
    chunks = b"5\r\n12345\r\n3;name=value\r\n678\r\n0\r\n\r\n"

    line = server.send(POST + b"Transfer-Encoding: chunked\r\n\r\n" + chunks)

    assert int(answer(line)) == 8


def test_a_client_that_asks_first_is_told_to_go_on(server: Server) -> None:
    line = server.send(POST + b"Expect: 100-continue\r\nContent-Length: 3\r\n\r\n")
    assert line.recv(4096).startswith(b"HTTP/1.1 100 Continue")

    line.sendall(b"abc")

    assert int(answer(line)) == 3


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (POST + b"Expect: 100-continue\r\nContent-Length: 2000001\r\n\r\n", 413),
        (POST + b"Content-Length: 8000000\r\n\r\n" + b" " * 8_000_000, 413),
        (POST + b"Transfer-Encoding: chunked\r\n\r\n4;a=" + b"x" * 100_000, 400),
        (POST + b"Transfer-Encoding: chunked\r\n\r\nno\r\n", 400),
        (POST + b"Transfer-Encoding: gzip\r\n\r\n", 501),
        (b"GET /" + b"a" * 100_000, 414),
    ],
    ids=["too large, asked first", "too large", "endless chunk", "no chunk", "coding", "address"],
)
def test_what_cannot_be_read_is_refused_before_it_is(
    server: Server, sent: bytes, status: int
) -> None:
    """Also where the client is still sending: it can read why."""
    found, document = refusal(server.send(sent))

    assert found == status == document["status"]
    assert document["detail"]


def test_bodies_on_their_way_are_bounded_together() -> None:
    adjustments = Adjustments(max_request_body_size=300_001)
    head = b"POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 300000\r\n\r\n"
    arriving = [Request(adjustments) for _ in range(5)]
    for each in arriving:
        each.received(head)
        each.received(b" " * 290_000)

    assert [each.error and each.error.code for each in arriving] == [None] * 4 + [503]

    del each, arriving
    later = Request(adjustments)
    later.received(head)
    later.received(b" " * 290_000)
    assert later.error is None


def test_bodies_that_take_long_make_room_for_new_ones() -> None:
    adjustments = Adjustments(max_request_body_size=300_000)
    closed: list[int] = []
    arriving = [Request(adjustments) for _ in range(6)]
    for number, each in enumerate(arriving):
        each.hang_up = partial(partial, closed.append, number)
        each.received(b"POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: 299999\r\n\r\n")
        each.received(b" " * 290_000)
        # Two of the first four are slow.
        each.rounds = (3, 0, 9, 1, 0, 0)[number]

    assert closed == [2, 0]
    assert [each.error for each in arriving] == [None] * 6


def test_what_came_at_once_is_no_credit_for_ever() -> None:
    body = b"POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: 30000000\r\n\r\n"
    with serving(threads=1, ROUND_SECONDS=0.05) as server:
        line = server.send(body + b" " * 29_000_000)

        def is_closed() -> bool:
            try:
                line.sendall(b" ")
            except OSError:
                return True
            return False

        # At the least speed it would take 580 rounds.
        until(is_closed, seconds=15)


def test_pieces_arrive_as_they_are_made_until_the_client_goes() -> None:
    with serving(threads=1) as server:
        line = server.send(b"GET /pieces HTTP/1.1\r\nHost: test\r\n\r\n")
        came = b""
        while b"first" not in came:
            came += line.recv(4096)

        (server.folder / "second").touch()
        while b"more" not in came:
            came += line.recv(4096)
        server.lines.close()

        until(lambda: (server.folder / "closed").exists())


def test_while_all_threads_are_busy_it_tells_that_it_lives_and_then_stops_in_order() -> None:
    with serving(threads=1) as server:
        slow = server.send(b"GET /slow HTTP/1.1\r\nHost: test\r\n\r\n")
        until(lambda: server.begun == 1)

        lives = answer(server.send(b"GET /healthz HTTP/1.1\r\nHost: test\r\n\r\n"))
        server.master.terminate()
        until(lambda: not _answers(server))
        (server.folder / "finish").touch()

        assert int(lives) == int(answer(slow))
        until(lambda: server.master.status() == psutil.STATUS_ZOMBIE)


def asked(path: bytes, *, key: bytes) -> bytes:
    """A request with a key."""
    return b"GET %b HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer %b\r\n\r\n" % (path, key)


def _ask_beside_four_slow_ones(server: Server, path: bytes, *, begin: int) -> socket.socket:
    """A request of a modest client after four slow ones of another, of which so many begin."""
    # Who asks is noted after the answer: the second one on the same connection comes after that.
    line, came = server.send(asked(b"/", key=b"modest") * 2), b""
    while came.count(b"HTTP/1.1 ") < 2:
        came += line.recv(4096)
    for _ in range(4):
        server.send(asked(path, key=b"greedy"))
    until(lambda: server.begun == begin)
    return server.send(asked(b"/", key=b"modest"))


@pytest.mark.parametrize(
    ("seconds", "begin"),
    [(600.0, 1), (0.0, 2)],
    ids=["one while it is young", "half where they take long"],
)
def test_one_client_leaves_threads_to_the_others(seconds: float, begin: int) -> None:
    with serving(threads=4, _SHARING_SECONDS=600.0, _YOUNG_SECONDS=seconds) as server:
        assert answer(_ask_beside_four_slow_ones(server, b"/slow", begin=begin))
        assert server.begun == begin

        (server.folder / "finish").touch()
        until(lambda: server.begun == 4)


def test_who_is_refused_for_a_wrong_key_takes_no_threads_from_others() -> None:
    with serving(threads=4, _SHARING_SECONDS=600.0) as server:
        assert answer(server.send(asked(b"/refused", key=b"stranger"))) == b"refused."
        for spaces in (b"", b" ", b"  ", b"   "):
            server.send(asked(b"/slow", key=spaces + b"greedy"))
        until(lambda: server.begun == 4)
        (server.folder / "finish").touch()


def test_a_key_is_one_client_however_it_is_spelt() -> None:
    with serving(threads=4, _SHARING_SECONDS=600.0, _YOUNG_SECONDS=600.0) as server:
        assert answer(server.send(asked(b"/", key=b"modest")))
        for spaces in (b"", b" ", b"  ", b"   "):
            server.send(asked(b"/slow", key=spaces + b"greedy"))
        until(lambda: server.begun == 1)
        assert answer(server.send(asked(b"/", key=b"modest")))
        assert server.begun == 1
        (server.folder / "finish").touch()
        until(lambda: server.begun == 4)


@pytest.mark.parametrize(
    ("path", "seconds"),
    [(b"/v1/chat/slow", 600.0), (b"/slow", 0.0)],
    ids=["it waits for models", "it asks alone"],
)
def test_one_client_may_have_all_threads_where(path: bytes, seconds: float) -> None:
    with serving(threads=4, _SHARING_SECONDS=seconds) as server:
        modest = _ask_beside_four_slow_ones(server, path, begin=4)

        (server.folder / "finish").touch()
        assert answer(modest)


def test_what_lies_unused_is_closed() -> None:
    with serving(threads=1, ROUND_SECONDS=0.05) as server:
        lines = [server.send(sent) for sent in (b"", POST, b"GET / HTTP/1.1\r\nHost: test\r\n\r\n")]

        for line in lines:
            while line.recv(4096):
                pass


def test_processes_end_with_the_one_that_started_them() -> None:
    with serving(threads=1) as server:
        worker = psutil.Process(server.workers[0])

        server.master.kill()

        until(lambda: not worker.is_running() or worker.status() == psutil.STATUS_ZOMBIE)


def test_a_process_with_fewer_connections_takes_the_next_ones() -> None:
    """One is stuck for a while, and the other one holds nobody up: it takes all of them.

    With long pauses, so that a slow machine behaves like a quick one.
    """
    with serving(workers=2, threads=2, PAUSE_SECONDS=0.5) as server:
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
