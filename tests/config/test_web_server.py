"""The web server: what it reads, what it refuses, and how it shares out its threads."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]
import pytest
from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase

from config.embedded import PROJECT_ROOT
from config.embedded.processes import is_running
from config.web_server import Bridge
from tests.support.waiting import until

MOST_BYTES = 300_000
SLOW_CLIENTS = 40
POST = b"POST /length HTTP/1.1\r\nHost: test\r\n"
# Waits for files where a test decides how long something takes.
_APPLICATION = """
import time
from pathlib import Path
from django.conf import settings
settings.configure()
from django.http import HttpResponse, StreamingHttpResponse
from config.web_server import Bridge, _end_with_parent

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

def wsgi(environ, start):
    path = environ["PATH_INFO"]
    if path == "/slow":
        (HERE / "begun").touch()
        wait_for("finish")
    size = len(environ["wsgi.input"].read())
    response = StreamingHttpResponse(pieces()) if path == "/pieces" else HttpResponse(f"{size:8}")
    start("200 OK", list(response.items()))
    return response

def application():
    _end_with_parent()
    return Bridge(wsgi, threads=1, most_bytes=2_000_000)

def killed_before_it_looks():
    (HERE / "loading").touch()
    wait_for("killed")
    return application()

def killed_while_it_loads():
    bridge = application()
    (HERE / "loading").touch()
    wait_for("killed")
    time.sleep(3)  # until it has been sent a signal
    return bridge
"""


@dataclass
class Server:
    """A server with one process, of one thread."""

    address: tuple[str, int]
    folder: Path
    main: psutil.Process
    lines: ExitStack = field(default_factory=ExitStack)

    def send(self, sent: bytes) -> socket.socket:
        """A new connection, on which this was sent."""
        line = self.lines.enter_context(socket.create_connection(self.address, timeout=60))
        line.sendall(sent)
        return line

    def is_listening(self) -> bool:
        """Returns whether the server accepts connections."""
        try:
            with socket.create_connection(self.address, timeout=5):
                return True
        except OSError:
            return False


def answer(line: socket.socket) -> int:
    """The size that the application tells in eight bytes."""
    came = b""
    while len(came.partition(b"\r\n\r\n")[2]) < 8:
        piece = line.recv(4096)
        assert piece, came
        came += piece
    return int(came.partition(b"\r\n\r\n")[2])


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """The server, which is killed with its process."""
    with serving(tmp_path) as found:
        until(found.is_listening)
        yield found


@contextmanager
def serving(tmp_path: Path, *, target: str = "application") -> Iterator[Server]:
    """Starts a server of one of the applications, and kills what is left of it afterwards."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = free.getsockname()
    (tmp_path / "told.py").write_text(_APPLICATION)
    code = "import sys; from config.web_server import main;"
    code += f"main('127.0.0.1', {address[1]}, target='told:{target}')"
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=PROJECT_ROOT,
        env={
            **os.environ,
            "PYTHONPATH": f"{tmp_path}:{PROJECT_ROOT}",
            "PALIMPSEST_HOME": str(tmp_path),
            "WEB_CONCURRENCY": "1",
            "LOG_LEVEL": "",  # as in .env.example
        },
    )
    found = Server(address, tmp_path, psutil.Process(process.pid))
    workers: list[psutil.Process] = []
    try:
        until(found.main.children)
        workers = found.main.children()
        yield found
    finally:
        found.lines.close()
        process.kill()
        for worker in workers:
            if worker.is_running():
                worker.kill()
        process.wait()


def test_clients_that_never_finish_hold_nobody_up(server: Server) -> None:
    for sent in (
        b"",
        POST,
        POST + b"Content-Length: 900\r\n\r\n{",
        POST + b"Transfer-Encoding: chunked\r\n\r\n400\r\n{",
        POST + b"Content-Length: 1900000\r\n\r\n" + b" " * 10_000,
    ):
        for _ in range(SLOW_CLIENTS):
            server.send(sent)

        assert answer(server.send(POST + b"Content-Length: 3\r\n\r\nabc")) == 3


def test_bodies_are_read_whole_however_they_come(server: Server) -> None:
    chunks = b"5\r\n12345\r\n3;name=value\r\n678\r\n0\r\n\r\n"
    line = server.send(POST + b"Expect: 100-continue\r\nContent-Length: 3\r\n\r\n")
    assert line.recv(4096).startswith(b"HTTP/1.1 100 Continue")
    line.sendall(b"abc")

    assert answer(line) == 3
    assert answer(server.send(POST + b"Transfer-Encoding: chunked\r\n\r\n" + chunks)) == 8


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (POST + b"Expect: 100-continue\r\nContent-Length: 2000001\r\n\r\n", 413),
        (POST + b"Content-Length: 8000000\r\n\r\n" + b" " * 4_000_000, 413),
        (POST + b"Transfer-Encoding: chunked\r\n\r\nno\r\n", 400),
    ],
    ids=["too large, asked first", "too large", "no chunk"],
)
def test_a_body_that_cannot_be_read_is_refused(server: Server, sent: bytes, status: int) -> None:
    line = server.lines.enter_context(socket.create_connection(server.address, timeout=60))
    with suppress(OSError):  # where it is refused before all of it was sent
        line.sendall(sent)
    head, _, body = b"".join(iter(lambda: line.recv(4096), b"")).partition(b"\r\n\r\n")

    assert int(head.split()[1]) == status
    if status == 413:
        assert json.loads(body)["status"] == status


def test_pieces_arrive_as_they_are_made_until_the_client_goes(server: Server) -> None:
    line = server.send(b"GET /pieces HTTP/1.1\r\nHost: test\r\n\r\n")
    came = b""
    while b"first" not in came:
        came += line.recv(4096)

    (server.folder / "second").touch()
    while b"more" not in came:
        came += line.recv(4096)
    server.lines.close()

    until(lambda: (server.folder / "closed").exists())


def test_while_all_threads_are_busy_it_tells_that_it_lives_and_then_stops_in_order(
    server: Server,
) -> None:
    slow = server.send(b"GET /slow HTTP/1.1\r\nHost: test\r\n\r\n")
    until(lambda: (server.folder / "begun").exists())

    assert answer(server.send(b"GET /healthz HTTP/1.1\r\nHost: test\r\n\r\n")) == 0
    server.main.terminate()
    until(lambda: not server.is_listening())
    (server.folder / "finish").touch()

    assert answer(slow) == 0
    until(lambda: server.main.status() == psutil.STATUS_ZOMBIE)


def test_processes_end_with_the_one_that_started_them(server: Server) -> None:
    [worker] = server.main.children()

    server.main.kill()

    until(lambda: not is_running(worker.pid))


@pytest.mark.parametrize("target", ["killed_before_it_looks", "killed_while_it_loads"])
def test_processes_that_still_load_end_with_it_too(tmp_path: Path, target: str) -> None:
    with serving(tmp_path, target=target) as server:
        until((tmp_path / "loading").exists)
        [worker] = server.main.children()

        server.main.kill()
        until(lambda: not is_running(server.main.pid))
        (tmp_path / "killed").touch()

        until(lambda: not is_running(worker.pid))


Application = Callable[[dict[str, Any]], HttpResponseBase]


@dataclass
class Caller:
    """A client of a Bridge; `arriving` is its body, of which None never comes."""

    path: str = "/"
    headers: dict[str, str] = field(default_factory=dict)
    arriving: list[bytes | None] = field(default_factory=lambda: [b""])
    reads: bool = True
    hang_up: asyncio.Event = field(default_factory=asyncio.Event)
    sent: list[dict[str, Any]] = field(default_factory=list)

    async def call(self, bridge: Bridge) -> None:
        """Send the request, and take the answer."""
        headers = [(name.encode(), value.encode()) for name, value in self.headers.items()]
        scope = {"type": "http", "method": "POST", "http_version": "1.1", "path": self.path}
        await bridge({**scope, "query_string": b"", "headers": headers}, self._receive, self._send)

    async def _receive(self) -> dict[str, Any]:
        if not self.arriving:
            await self.hang_up.wait()
            return {"type": "http.disconnect"}
        piece = self.arriving.pop(0)
        if piece is None:
            await self.hang_up.wait()
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": piece, "more_body": bool(self.arriving)}

    async def _send(self, message: Any) -> None:
        if not self.reads and message["type"] == "http.response.body":
            await asyncio.Event().wait()
        self.sent.append(message)

    @property
    def status(self) -> int:
        """The status of the answer; 0 without one."""
        return int(self.sent[0]["status"]) if self.sent else 0

    @property
    def body(self) -> bytes:
        """All of the answer that came."""
        return b"".join(each["body"] for each in self.sent[1:])


def bridge(
    application: Application = lambda _: HttpResponse("ok"),
    *,
    threads: int = 2,
    patience: float = 60.0,
) -> Bridge:
    """A Bridge to a function that makes Django's responses."""

    def wsgi(environ: dict[str, Any], start: Callable[..., object]) -> HttpResponseBase:
        response = application(environ)
        start(f"{response.status_code} {response.reason_phrase}", list(response.items()))
        return response

    return Bridge(wsgi, threads=threads, most_bytes=MOST_BYTES, patience=patience)


def run(test: Callable[[], Awaitable[None]]) -> None:
    """Run an asynchronous test."""

    async def within() -> None:
        async with asyncio.timeout(60):
            await test()

    asyncio.run(within())


def test_a_body_that_grows_beyond_the_limit_or_breaks_off_is_refused() -> None:
    async def test() -> None:
        large = Caller(arriving=[b" " * MOST_BYTES, b" "])
        broken = Caller(arriving=[b"{", None])
        broken.hang_up.set()
        for each in (large, broken):
            await each.call(bridge())

        assert [large.status, broken.status] == [413, 400]
        assert f"{MOST_BYTES:,}" in json.loads(large.body)["detail"]

    run(test)


def test_a_body_of_many_tiny_pieces_is_refused_and_a_long_one_of_packets_is_read() -> None:
    async def test() -> None:
        tiny = Caller(arriving=[b" "] * 21_000)
        packets = Caller(arriving=[b" " * 14] * 20_500)
        for each in (tiny, packets):
            await each.call(bridge())

        assert [tiny.status, packets.status] == [400, 200]

    run(test)


def test_a_body_that_comes_too_slowly_is_refused() -> None:
    async def test() -> None:
        slow = Caller(arriving=[b"{", None])
        await slow.call(bridge(patience=0.05))

        assert slow.status == 408

    run(test)


def test_large_bodies_on_their_way_are_bounded_together_and_small_ones_are_let_in() -> None:
    async def test() -> None:
        shared = bridge()
        held = [Caller(arriving=[b" " * (MOST_BYTES - 1), None]) for _ in range(4)]
        tasks = [asyncio.create_task(each.call(shared)) for each in held]
        await asyncio.sleep(0)
        late = Caller(arriving=[b" " * 100_000, b""])
        small = Caller(arriving=[b" " * 1_000])
        for each in (late, small):
            await each.call(shared)

        assert [late.status, small.status] == [503, 200]
        for each in held:
            each.hang_up.set()
        await asyncio.gather(*tasks)
        again = Caller(arriving=[b" " * 100_000, b""])
        await again.call(shared)
        assert again.status == 200

    run(test)


def test_a_header_with_an_underscore_does_not_pose_as_one_of_a_proxy() -> None:
    found: list[object] = []

    def application(environ: dict[str, Any]) -> HttpResponse:
        found.append(environ.get("HTTP_X_FORWARDED_FOR"))
        return HttpResponse()

    async def test() -> None:
        for name in ("x_forwarded_for", "x-forwarded-for"):
            await Caller(headers={name: "10.0.0.1"}).call(bridge(application))

        assert found == [None, "10.0.0.1"]

    run(test)


@pytest.mark.parametrize("is_streamed", [False, True])
def test_who_reads_nothing_of_an_answer_is_left(is_streamed: bool) -> None:
    closed = threading.Event()

    def application(environ: dict[str, Any]) -> HttpResponseBase:
        many = [b"x" * 1_000] * 1_000
        response = StreamingHttpResponse(many) if is_streamed else HttpResponse(many)
        response._resource_closers.append(closed.set)  # type: ignore[union-attr]
        return response

    async def test() -> None:
        deaf = Caller(reads=False)
        await deaf.call(bridge(application, patience=0.05))

        assert closed.is_set()
        assert deaf.body == b""

    run(test)


def test_one_client_leaves_threads_to_the_others_and_models_are_waited_for_elsewhere() -> None:
    begun, finish = threading.Semaphore(0), threading.Event()

    def application(environ: dict[str, Any]) -> HttpResponse:
        if "slow" in environ["PATH_INFO"]:
            begun.release()
            finish.wait(60)
        return HttpResponse("ok")

    async def test() -> None:
        shared = bridge(application, threads=2)
        greedy = {"authorization": "Bearer greedy"}
        slow = [Caller(path="/slow", headers=greedy) for _ in range(4)]
        chats = [Caller(path="/v1/chat/slow", headers=greedy) for _ in range(9)]
        long = [Caller(path="/v1/conversations/slow/extract", headers=greedy) for _ in range(3)]
        tasks = [asyncio.create_task(each.call(shared)) for each in (*slow, *chats, *long)]
        with ThreadPoolExecutor(1) as waiting:
            # One of the slow ones, one extraction, and six that wait for a model.
            for _ in range(8):
                await asyncio.get_running_loop().run_in_executor(waiting, begun.acquire)
        for path in ("/", "/v1/chat/completions", "/healthz"):
            modest = Caller(path=path, headers={"authorization": "Bearer modest"})
            await modest.call(shared)
            assert modest.body == b"ok"

        assert not begun.acquire(blocking=False)
        finish.set()
        await asyncio.gather(*tasks)
        assert {each.status for each in slow} == {200}

    run(test)


def test_a_client_has_half_of_the_threads_and_a_quarter_beside_others() -> None:
    begun, finish = threading.Semaphore(0), threading.Event()

    def application(environ: dict[str, Any]) -> HttpResponse:
        begun.release()
        finish.wait(60)
        return HttpResponse("ok")

    async def begin(shared: Bridge, *keys: str) -> tuple[list[asyncio.Task[None]], int]:
        asked = [Caller(headers={"authorization": each} if each else {}) for each in keys]
        tasks = [asyncio.create_task(each.call(shared)) for each in asked]
        await asyncio.sleep(0.2)
        count = 0
        while begun.acquire(blocking=False):
            count += 1
        return tasks, count

    async def test() -> None:
        alone, beside = bridge(application, threads=8), bridge(application, threads=8)
        first, of_one = await begin(alone, "", *["one"] * 6)
        second, of_two = await begin(beside, "two", *["one"] * 6)

        assert (of_one, of_two) == (5, 3)
        finish.set()
        await asyncio.gather(*first, *second)

    run(test)


def test_a_request_whose_client_has_gone_while_it_waited_is_not_begun() -> None:
    asked: list[str] = []
    finish = threading.Event()

    def application(environ: dict[str, Any]) -> HttpResponse:
        asked.append(environ["PATH_INFO"])
        finish.wait(60)
        return HttpResponse()

    async def test() -> None:
        shared = bridge(application, threads=1)
        first, second = Caller(path="/first"), Caller(path="/second")
        tasks = [asyncio.create_task(each.call(shared)) for each in (first, second)]
        while not asked:
            await asyncio.sleep(0.01)
        second.hang_up.set()
        await asyncio.sleep(0.01)
        finish.set()
        await asyncio.gather(*tasks)

        assert asked == ["/first"]

    run(test)
