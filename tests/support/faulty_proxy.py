"""A proxy between a client and a server that loses answers, or gives some of its own."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self

import httpx

_DROPPED = {"connection", "content-length", "transfer-encoding", "content-encoding", "host"}


@dataclass(frozen=True, slots=True)
class Fault:
    """The fate of one request: it is passed on and its answer lost, or it never gets there and
    is answered with `status`, `headers` and `body`."""

    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str = '{"detail": "made up by the proxy"}'


LOST_ANSWER = Fault()


@dataclass(frozen=True, slots=True)
class Seen:
    """A request as it came."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


class FaultyProxy:
    """The proxy on a thread; a context manager. Without a fault it passes everything on."""

    def __init__(self, target: str) -> None:
        self.target = target
        self.seen: list[Seen] = []
        self.faults: deque[Fault] = deque()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.proxy = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    proxy: FaultyProxy


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_GET(self) -> None:
        """Pass it on, or not."""
        proxy = self.server.proxy
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {name: value for name, value in self.headers.items() if name.lower() != "host"}
        proxy.seen.append(Seen(self.command, self.path, headers, body))
        fault = proxy.faults.popleft() if proxy.faults else None
        if fault is not None and fault.status is not None:
            self._answer(fault.status, fault.headers, fault.body.encode())
            return
        passed = httpx.request(
            self.command, proxy.target + self.path, headers=headers, content=body, timeout=60
        )
        if fault is None:
            self._answer(passed.status_code, passed.headers, passed.content)

    do_POST = do_PUT = do_PATCH = do_DELETE = do_GET  # noqa: N815  # names of the standard library

    def _answer(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        self.send_response(status)
        for name, value in headers.items():
            if name.lower() not in _DROPPED:
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words: object) -> None:
        """Say nothing."""
