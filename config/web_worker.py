"""The process that answers: gunicorn's threads, balanced, with refusals that clients can read.

All processes accept from one socket, and the first to wake up takes the connection: of eight
clients that keep theirs, one process may hold all eight while the other is idle. So each process
shares how many it holds, and one that holds more than another waits a moment before it accepts.
Figures: docs/decisions/0005-search-on-postgresql.md.
"""

import json
import mmap
import socket
import struct
import time
from typing import Any

from gunicorn.http.errors import (  # type: ignore[import-untyped]
    InvalidHeader,
    InvalidHeaderName,
    InvalidHTTPVersion,
    InvalidRequestLine,
    InvalidRequestMethod,
    LimitRequestHeaders,
    LimitRequestLine,
)
from gunicorn.util import write  # type: ignore[import-untyped]
from gunicorn.workers.gthread import ThreadWorker  # type: ignore[import-untyped]

# The most that gunicorn reads of a request's first line (method, address and version), of a header
# and of headers.
MOST_BYTES = 8190
MOST_HEADER_BYTES = 8190
MOST_HEADERS = 100
# By what was wrong: the status and its reason, the title and what to do.
_REFUSALS = {
    LimitRequestLine: (
        (414, "URI Too Long"),
        "Address too long",
        f"A request's first line, with its method and address, has room for {MOST_BYTES:,} bytes."
        " Ask long questions with POST: /v1/memory/query and /v1/retrieve take 8,000 characters.",
    ),
    LimitRequestHeaders: (
        (431, "Request Header Fields Too Large"),
        "Headers too long",
        f"A request may have {MOST_HEADERS} headers of {MOST_HEADER_BYTES:,} bytes each. Send fewer"
        " or shorter ones; what is long belongs in the body.",
    ),
    **dict.fromkeys(
        (
            InvalidHeader,
            InvalidHeaderName,
            InvalidHTTPVersion,
            InvalidRequestLine,
            InvalidRequestMethod,
        ),
        (
            (400, "Bad Request"),
            "Not HTTP",
            "The first line or a header of the request is not written as HTTP wants it. Send it"
            " with an HTTP client, with spaces and signs in its address percent-encoded.",
        ),
    ),
}
# Long enough for an idle process to wake up; a client hardly notices it.
PAUSE_SECONDS = 0.005
_LEAST_SECONDS = 0.001
# A process uses one by its age; two that share one are balanced less well.
_PLACES = 64
_NUMBER = struct.Struct("q")


class Connections:
    """How many connections each process holds, in memory shared with processes forked later."""

    def __init__(self) -> None:
        self._shared = mmap.mmap(-1, _PLACES * _NUMBER.size)

    def record(self, age: int, count: int) -> None:
        """Note how many connections the process of that age holds."""
        # 0 marks a place without a process.
        _NUMBER.pack_into(self._shared, age % _PLACES * _NUMBER.size, count + 1)

    def forget(self, age: int) -> None:
        """Remove the process of that age, which accepts no more."""
        self.record(age, -1)

    def least(self) -> int:
        """How many the process holds that holds the fewest; 0 where none is noted."""
        counts = [count for (count,) in _NUMBER.iter_unpack(self._shared[:]) if count]
        return min(counts, default=1) - 1


# Made when the configuration is read, before the processes that share it are forked.
CONNECTIONS = Connections()


class WebWorker(ThreadWorker):  # type: ignore[misc]  # gunicorn has no types
    """gunicorn's threaded worker, with about as many connections as the other processes.

    It refuses what it cannot read with a problem document, as the API refuses anything.
    """

    _paused_until = float("-inf")
    _has_paused = False

    def accept(self, listener: socket.socket) -> None:
        """Accept a connection, or leave it to another process for a moment.

        One that is still waiting afterwards is accepted: the other process is busy or gone.
        """
        if not self._has_paused and self.nr_conns > CONNECTIONS.least():
            self._has_paused = True
            self._paused_until = time.monotonic() + PAUSE_SECONDS
            self.set_accept_enabled(False)
            return
        super().accept(listener)
        self._record()

    def set_accept_enabled(self, enabled: bool) -> None:
        """Accept connections or not; during a pause it does not."""
        if not enabled or time.monotonic() >= self._paused_until:
            super().set_accept_enabled(enabled)

    def wait_for_and_dispatch_events(self, timeout: float) -> None:
        """Handle events for at most so many seconds, less when a pause ends before."""
        self._record()
        has_ended = self._has_paused and self._accepting
        if self._has_paused and self.alive:
            timeout = min(timeout, max(_LEAST_SECONDS, self._paused_until - time.monotonic()))
        super().wait_for_and_dispatch_events(timeout)
        if has_ended:
            self._has_paused = False

    def handle_error(
        self, req: object, client: socket.socket, addr: Any, exc: BaseException
    ) -> None:  # Any: gunicorn's own signature
        """Answer a request that could not be read."""
        refusal = _REFUSALS.get(type(exc))
        if refusal is None:
            super().handle_error(req, client, addr, exc)
            return
        self.log.warning("A request was refused: %s.", exc)
        try:
            write(client, _written(*refusal))
        except OSError:
            self.log.debug("Nobody waited for the refusal of a request.")

    def _record(self) -> None:
        if self.alive:
            CONNECTIONS.record(self.age, self.nr_conns)
        else:
            CONNECTIONS.forget(self.age)


def _written(status: tuple[int, str], title: str, detail: str) -> bytes:
    document = {"type": "about:blank", "title": title, "status": status[0], "detail": detail}
    body = json.dumps(document).encode()
    head = (
        f"HTTP/1.1 {status[0]} {status[1]}\r\n"
        "Connection: close\r\n"
        "Content-Type: application/problem+json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body
