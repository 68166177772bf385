"""A server, clients that ask it for prompts at the same time, and the processor time of that.

One thread plays all clients, each on a connection of its own that it keeps: threads that compete
for one interpreter would wait for each other, and take of the server's two cores besides. A client
asks again as soon as its answer is there, and reads all of it.
"""

from __future__ import annotations

import json
import os
import re
import selectors
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from benchmarks.ground import computed
from config.healthcheck import is_healthy

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)\r\n", re.IGNORECASE)
_END = b"\r\n\r\n"
_SECONDS = 30.0
_START_SECONDS = 120


@dataclass(frozen=True, slots=True)
class Load:
    """Milliseconds of each request, and those that each kind of process computed for one."""

    took: list[float]
    computed: Mapping[str, float]


@dataclass(slots=True)
class _Client:
    """One connection, and the answer that is on its way."""

    line: socket.socket
    began: float = 0.0
    came: bytearray = field(default_factory=bytearray)
    expected: int = 0

    def ask(self, request: bytes) -> None:
        """Send a request."""
        self.came.clear()
        self.expected = 0
        self.began = time.perf_counter()
        self.line.sendall(request)

    def has_read_all(self) -> bool:
        """Whether the answer is there, with what has just come; RuntimeError for a refusal."""
        piece = self.line.recv(1 << 18)
        self.came += piece
        if not self.expected and _END in self.came:
            head, _, _ = self.came.partition(_END)
            length = _LENGTH.search(head + b"\r\n")
            if b" 200 " not in head.splitlines()[0] or length is None:
                raise RuntimeError(bytes(self.came[:300]).decode(errors="replace"))
            self.expected = len(head) + len(_END) + int(length[1])
        if not piece:
            raise RuntimeError("The server closed a connection within an answer.")
        return 0 < self.expected <= len(self.came)


def concurrent_calls(
    *, port: int, token: str, bodies: Sequence[Mapping[str, object]], clients: int
) -> Load:
    """`POST /v1/retrieve` with each of the bodies, by so many clients that never pause."""
    left = [_request(token, body) for body in reversed(bodies)]
    took: list[float] = []
    with ExitStack() as lines, selectors.DefaultSelector() as waiting:
        before = computed()
        for _ in range(min(clients, len(left))):
            line = lines.enter_context(socket.create_connection(("127.0.0.1", port), _SECONDS))
            line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            client = _Client(line)
            waiting.register(line, selectors.EVENT_READ, client)
            client.ask(left.pop())
        while len(took) < len(bodies):
            ready = waiting.select(_SECONDS)
            if not ready:
                raise RuntimeError(f"The server did not answer within {_SECONDS:.0f} seconds.")
            for key, _ in ready:
                client = key.data
                if client.has_read_all():
                    took.append(1000 * (time.perf_counter() - client.began))
                    if left:
                        client.ask(left.pop())
        after = computed()
    return Load(took, {kind: 1000 * (after[kind] - before[kind]) / len(took) for kind in after})


def _request(token: str, body: Mapping[str, object]) -> bytes:
    content = json.dumps(body).encode()
    head = (
        "POST /v1/retrieve HTTP/1.1",
        "Host: 127.0.0.1",
        "Accept-Encoding: identity",
        f"Authorization: Bearer {token}",
        "Content-Type: application/json",
        f"Content-Length: {len(content)}",
    )
    return "\r\n".join(head).encode() + _END + content


@contextmanager
def own_server(*, workers: int) -> Iterator[int]:
    """The port of a gunicorn, set up as `make run` does, for as long as it is needed."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "gunicorn", "config.wsgi", "-c", "config/gunicorn_conf.py"]
    command += ["-b", f"127.0.0.1:{port}", "-w", str(workers), "--threads", "8"]
    server = subprocess.Popen(command, env={**os.environ, "DATABASE_POOL_SIZE": "12"})
    try:
        until = time.monotonic() + _START_SECONDS
        while not is_healthy(host="127.0.0.1", port=port):
            if server.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"gunicorn does not answer (status {server.poll()}).")
            time.sleep(0.1)
        yield port
    finally:
        server.terminate()
        server.wait()
