"""The process that answers: gunicorn's threads, balanced, that no client holds up.

All processes accept from one socket, and the first to wake up takes the connection: of eight
clients that keep theirs, one process may hold all eight while the other is idle. So each process
shares how many it holds, and one that holds more than another waits a moment before it accepts.
Figures: docs/decisions/0005-search-on-postgresql.md.

A thread never waits for a client: the main thread collects each request and hands it on when it is
whole, and sends what a client has not read yet. Record: docs/decisions/0056-slow-clients.md.
"""

import selectors
import socket
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Any

from gunicorn.util import write  # type: ignore[import-untyped]
from gunicorn.workers.gthread import (  # type: ignore[import-untyped]
    STOP_KEEPALIVE_LINGER,
    TConn,
    ThreadWorker,
)

from config.connections import CONNECTIONS
from config.http_refusals import NO_ROOM, NO_TIME, REFUSALS, TOO_MANY, Refusal, written
from config.receiving import Arrived, Incoming, Line
from config.turns import PROBE, Turns

# Connections of a process whose requests are not whole yet; one more ends the oldest of them.
MOST_INCOMPLETE = 800
# Bytes of requests that a process keeps; with more the largest of the unfinished ones ends.
MOST_KEPT_BYTES = 96 * 1024 * 1024
# Requests of one caller that wait in a process for a thread.
MOST_WAITING = 200
_PIECE = 64 * 1024
# Seconds in which a client reads the end of its answer, and closes a connection that we end.
_UNSENT_SECONDS = 30.0
_CLOSING_SECONDS = 2.0
_PROBES = (b"GET /healthz ", b"GET /readyz ")
# Long enough for an idle process to wake up; a client hardly notices it.
PAUSE_SECONDS = 0.005
_LEAST_SECONDS = 0.001
_ACCEPTED_AT_ONCE = 32
_SMALL_SHARE = 4


@dataclass(slots=True)
class Waiting:
    """Why a connection is with the main thread, until when, and what has arrived."""

    deadline: float
    incoming: Incoming | None = None


class WebWorker(ThreadWorker):  # type: ignore[misc]  # gunicorn has no types
    """gunicorn's threaded worker for clients that are slow, greedy or gone.

    It has about as many connections as the other processes, serves callers in turn, and refuses
    what it cannot read with a problem document, as the API refuses anything.
    """

    _paused_until = float("-inf")
    _has_paused = False
    _checked_at = 0.0

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # Any: gunicorn's own signature
        super().__init__(*args, **kwargs)
        # The oldest first.
        self._waiting: dict[TConn, Waiting] = {}
        # Bytes of whole requests, waiting or under way.
        self._held = 0
        threads = self.cfg.threads
        self._turns: Turns[TConn] = Turns(
            places=threads, of_one=max(1, threads * 3 // 4), most_waiting=MOST_WAITING
        )

    def get_thread_pool(self) -> ThreadPoolExecutor:
        """A thread for each place, and one for who asks whether the process lives."""
        return ThreadPoolExecutor(max_workers=self.cfg.threads + 1)

    def accept(self, listener: socket.socket) -> None:
        """Accept the connections that wait, or leave them to another process for a moment.

        One that is still waiting afterwards is accepted: the other process is busy or gone.
        """
        for _ in range(_ACCEPTED_AT_ONCE):
            least = CONNECTIONS.least()
            # Among hundreds a few more or less make no difference.
            if not self._has_paused and self.nr_conns > least + least // _SMALL_SHARE:
                self._has_paused = True
                self._paused_until = time.monotonic() + PAUSE_SECONDS
                self.set_accept_enabled(False)
                return
            held = self.nr_conns
            self._accept_one(listener)
            if self._has_paused or self.nr_conns <= held:
                return

    def _accept_one(self, listener: socket.socket) -> None:
        if self.nr_conns >= self.worker_connections - 1 and self.keepalived_conns:
            # Who has been idle for longest makes room.
            self.keepalived_conns[0].timeout = float("-inf")
            self.murder_keepalived()
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

    def enqueue_req(self, conn: TConn) -> None:
        """Collect the next request of a connection, which a thread gets once it is whole."""
        if conn.parser is None:
            conn.sock = Line(fileno=conn.sock.detach())
            came = b""
        else:
            came = conn.parser.unreader.left()
        conn.sock.setblocking(False)
        if len(self._waiting) >= MOST_INCOMPLETE:
            oldest = next(iter(self._waiting))
            self._end(oldest, NO_ROOM if self._waiting[oldest].incoming else None)
        incoming = Incoming(
            most_body=_most_body(),
            now=time.monotonic(),
            proceed=lambda: conn.sock.sendall(b"HTTP/1.1 100 Continue\r\n\r\n"),
        )
        self._wait(conn, self._read, Waiting(incoming.deadline, incoming))
        self._read(conn, came)

    def _wait(
        self,
        conn: TConn,
        act: Callable[[TConn], None],
        waiting: Waiting,
        event: int = selectors.EVENT_READ,
    ) -> None:
        self._waiting[conn] = waiting
        self.poller.register(conn.sock, event, lambda _: act(conn))

    def _stop_waiting(self, conn: TConn) -> None:
        del self._waiting[conn]
        self.poller.unregister(conn.sock)

    def _read(self, conn: TConn, came: bytes = b"") -> None:
        """Take what has arrived of a request; hand it on when it is whole."""
        waiting = self._waiting[conn]
        assert waiting.incoming is not None
        try:
            came = came or conn.sock.recv(_PIECE)
            if not came:
                self._end(conn)
            elif waiting.incoming.add(came):
                self._stop_waiting(conn)
                self._join(conn, waiting.incoming)
            else:
                waiting.deadline = waiting.incoming.deadline
                if len(came) == _PIECE:
                    self._keep_to_room()
        except BlockingIOError:
            return
        except tuple(REFUSALS) as error:
            self._end(conn, REFUSALS[type(error)])
        except OSError:
            self._end(conn)

    def _join(self, conn: TConn, incoming: Incoming) -> None:
        """Let a whole request wait for its caller's turn."""
        conn.init()
        conn.parser.unreader = Arrived(conn.sock, incoming.taken())
        self._held += conn.parser.unreader.size
        caller = PROBE if incoming.head.startswith(_PROBES) else incoming.header(b"authorization")
        if self._turns.join(caller, conn):
            self._serve()
        else:
            self._held -= conn.parser.unreader.size
            self._refuse(conn, TOO_MANY)

    def _serve(self) -> None:
        while (turn := self._turns.next()) is not None:
            caller, conn = turn
            future = self.tpool.submit(self.handle, conn)
            future.add_done_callback(
                lambda done, conn=conn, caller=caller: self.method_queue.defer(
                    self._finish, conn, done, caller
                )
            )

    def _finish(self, conn: TConn, done: Future[object], caller: object) -> None:
        """Give the place to the next one, and send the client what it has not read yet."""
        self._turns.leave(caller)
        self._held -= conn.parser.unreader.size
        self._serve()
        if conn.sock.fileno() < 0:  # closed where an answer broke off
            self.nr_conns -= 1
            return
        conn.sock.setblocking(False)
        self._flush(conn, done)

    def _flush(self, conn: TConn, done: Future[object]) -> None:
        try:
            conn.sock.flush()
        except OSError:
            self._end(conn)
            return
        if not conn.sock.unsent:
            if conn in self._waiting:
                self._stop_waiting(conn)
            self._after(conn, done)
        elif conn not in self._waiting:
            until = Waiting(time.monotonic() + _UNSENT_SECONDS)
            self._wait(conn, lambda each: self._flush(each, done), until, selectors.EVENT_WRITE)

    def _after(self, conn: TConn, done: Future[object]) -> None:
        """Keep a connection for the next request, or end it."""
        if done.cancelled() or done.exception() is not None or not done.result():
            self._close_gently(conn)
        elif conn.parser.unreader.has_left():
            self.enqueue_req(conn)
        else:
            self.finish_request(conn, done)

    def _refuse(self, conn: TConn, refusal: Refusal) -> None:
        with suppress(OSError):
            conn.sock.setblocking(False)
            conn.sock.sendall(written(refusal))
        self._close_gently(conn)

    def _end(self, conn: TConn, refusal: Refusal | None = None) -> None:
        """End a connection that waits, with a refusal or without a word."""
        if conn in self._waiting:
            self._stop_waiting(conn)
        if refusal is not None:
            self._refuse(conn, refusal)
            return
        self.nr_conns -= 1
        conn.close()

    def _close_gently(self, conn: TConn) -> None:
        """Say that nothing follows, and close when the client has, so that it can read the end."""
        try:
            conn.sock.shutdown(socket.SHUT_WR)
        except OSError:
            self._end(conn)
            return
        self._wait(conn, self._drain, Waiting(time.monotonic() + _CLOSING_SECONDS))

    def _drain(self, conn: TConn) -> None:
        try:
            if not conn.sock.recv(_PIECE):
                self._end(conn)
        except BlockingIOError:
            return
        except OSError:
            self._end(conn)

    def _keep_to_room(self) -> None:
        """End the largest unfinished request where they are too many bytes together."""
        sizes = {conn: len(each.incoming) for conn, each in self._waiting.items() if each.incoming}
        if sizes and self._held + sum(sizes.values()) > MOST_KEPT_BYTES:
            self._end(max(sizes, key=lambda conn: sizes[conn]), NO_ROOM)

    def murder_pending(self) -> None:
        """Once a second, end what is overdue, and requests whose clients are gone before a thread
        has begun them."""
        now = time.monotonic()
        if now < self._checked_at + 1:
            return
        self._checked_at = now
        if not self.alive:
            for each in self._waiting.values():
                each.deadline = min(each.deadline, now + STOP_KEEPALIVE_LINGER)
        for conn in [conn for conn, each in self._waiting.items() if each.deadline <= now]:
            # Who has sent nothing waits for no answer.
            self._end(conn, NO_TIME if self._waiting[conn].incoming else None)
        for caller, conn in self._turns.waiting():
            if _is_gone(conn.sock):
                self._turns.give_up(caller, conn)
                self._held -= conn.parser.unreader.size
                self._end(conn)

    def handle_error(
        self, req: object, client: socket.socket, addr: Any, exc: BaseException
    ) -> None:  # Any: gunicorn's own signature
        """Answer a request that could not be read."""
        refusal = REFUSALS.get(type(exc))
        if refusal is None:
            super().handle_error(req, client, addr, exc)
            return
        self.log.warning("A request was refused: %s.", exc)
        try:
            write(client, written(refusal))
        except OSError:
            self.log.debug("Nobody waited for the refusal of a request.")

    def _record(self) -> None:
        if self.alive:
            CONNECTIONS.record(self.age, self.nr_conns)
        else:
            CONNECTIONS.forget(self.age)


def _is_gone(line: socket.socket) -> bool:
    """Whether the client has closed its connection."""
    try:
        return not line.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
    except BlockingIOError:
        return False
    except OSError:
        return True


@cache
def _most_body() -> int:
    """The largest body of any endpoint, in bytes."""
    from django.conf import settings  # read with the application, after this module

    return int(settings.DATA_UPLOAD_MAX_MEMORY_SIZE)
