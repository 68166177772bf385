"""The process that answers: waitress among gunicorn's processes.

gunicorn starts, watches, replaces and stops the processes. In each, one thread of waitress reads
and writes all connections and hands a request to a thread that answers it when the whole of it is
there, so clients that never finish hold nobody up. Why: docs/decisions/0061-waitress.md.

All processes accept from one socket, and the first to wake up takes the connection: of eight
clients that keep theirs, one process may hold all eight while the other is idle. So each process
shares how many it holds, and one that holds more than another waits a moment before it accepts.
"""

from __future__ import annotations

import logging
import mmap
import os
import resource
import socket
import struct
import sys
import time
from collections import deque
from contextlib import suppress
from datetime import timedelta
from threading import Lock
from types import SimpleNamespace
from typing import Any
from weakref import WeakMethod

from django.conf import settings
from gunicorn.workers.base import Worker  # type: ignore[import-untyped]
from waitress import wasyncore  # type: ignore[import-untyped]
from waitress.adjustments import Adjustments  # type: ignore[import-untyped]
from waitress.channel import HTTPChannel  # type: ignore[import-untyped]
from waitress.server import TcpWSGIServer  # type: ignore[import-untyped]
from waitress.task import ThreadedTaskDispatcher, WSGITask  # type: ignore[import-untyped]

from config.web_requests import MOST_HEADER_BYTES, Request

# Requests below it wait for a model and hardly compute: they may take all threads.
_WAITING_FOR_MODELS = "/v1/chat/"
# While others ask as well, a client has one thread for requests younger than this, because threads
# that compute at once only delay each other. What runs for longer rather waits than computes: it
# holds up none of the client's other requests until it has this share of the threads.
_YOUNG_SECONDS = 1.0
_MOST_OF_THREADS = 0.5
# Others count as asking for so long after a request.
_SHARING_SECONDS = 10.0
# Answered beside the threads: it tells that the process lives, however busy they are.
_LIVENESS = "/healthz"
# Connections are looked at once a round. One on which nothing moves for so many rounds is closed,
# and one whose request is not whole by then and comes more slowly than this. Rounds are counted,
# and not times, because the clock may jump.
ROUND_SECONDS = 5.0
_PATIENCE_ROUNDS = 6
_LEAST_BYTES_A_ROUND = 50_000
_MOST_CONNECTIONS = 2_000
# A connection may hold two temporary files besides; the application has files of its own.
_FILES_A_CONNECTION, _OTHER_FILES = 3, 200
# Long enough for an idle process to wake up; a client hardly notices it.
PAUSE_SECONDS = 0.005
# Of as many connections as are held, so many more are accepted at once.
_SHARE_AT_ONCE = 0.25
# A pause so long ago is forgotten: another process took the connection it was for.
_PAUSE_COUNTS_SECONDS = 1.0
_TURN_SECONDS = 0.5
# After so long a computing thread lets another one run; Python's own 5 ms, times the threads, would
# be added to each read and write of the thread that serves the connections.
_SWITCH_SECONDS = 0.001
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


class Task(WSGITask):  # type: ignore[misc]  # waitress has no types
    """A request being answered, written to gunicorn's access log where there is one."""

    def service(self) -> None:
        """Answer it."""
        began = time.monotonic()
        try:
            super().service()
            if not str(self.status).startswith("401"):
                self.channel.server.sharing.note(self.request)
        finally:
            log = self.channel.server.log
            if log.access_log_enabled:
                environ = {**self.get_environment(), "RAW_URI": self.request.request_uri}
                sent = self.content_bytes_written
                said = SimpleNamespace(status=self.status, sent=sent, headers=self.response_headers)
                took = timedelta(seconds=time.monotonic() - began)
                log.access(said, self.request.headers, environ, took)


class Channel(HTTPChannel):  # type: ignore[misc]
    """A connection: what is read of it, and what waits to be written to it."""

    task_class = Task
    # Of a request that is refused: what still comes of it is thrown away for a round, because a
    # socket that is closed with unread bytes takes back what was written to it.
    is_refused = False
    close_when_flushed: bool
    _is_lingering = False
    _last_activity = 0.0
    _still_rounds = 0

    def parser_class(self, adj: Adjustments) -> Request:
        """A new request."""
        request = Request(adj)
        request.hang_up = WeakMethod(self.handle_close)
        return request

    @property
    def is_idle(self) -> bool:
        """Whether nothing is under way on it but a request that has been coming for a round."""
        is_new = self.request is not None and self.request.rounds < 2
        return not (self.requests or self.total_outbufs_len or is_new)

    def readable(self) -> bool:
        """Whether to read what comes."""
        return self._is_lingering or bool(super().readable())

    def handle_read(self) -> None:
        """Read what came."""
        if self._is_lingering:
            self.recv(self.adj.recv_bytes)
        else:
            super().handle_read()

    def handle_write(self) -> None:
        """Write what waits, or close the connection."""
        if self.is_refused and self.close_when_flushed and not self.total_outbufs_len:
            self.close_when_flushed = False
            self._is_lingering = True
            with suppress(OSError):
                self.socket.shutdown(socket.SHUT_WR)
        else:
            super().handle_write()

    def service(self) -> None:
        """Answer the first request."""
        request = self.requests[0]
        try:
            super().service()
        finally:
            self.server.end(request)

    def look(self, *, patience: int) -> None:
        """Once a round: close it if nothing moved for `patience` rounds, or too little."""
        patience = 1 if self._is_lingering else patience
        is_answered = bool(self.requests) and not self.total_outbufs_len
        has_moved = is_answered or self.last_activity != self._last_activity
        self._still_rounds = 0 if has_moved else self._still_rounds + 1
        self._last_activity = self.last_activity
        if self._still_rounds >= patience or self._comes_too_slowly(patience):
            self.handle_close()

    def _comes_too_slowly(self, patience: int) -> bool:
        """Whether a request used up its credit: each round costs some, and what came gives some.

        No request has more than `patience` rounds of it, however much came at once.
        """
        request, most = self.request, patience * _LEAST_BYTES_A_ROUND
        if request is None:
            return False
        came = request.body_bytes_received - request.counted
        request.counted += came
        if request.rounds:
            request.credit = min(request.credit + came, most) - _LEAST_BYTES_A_ROUND
        else:
            request.credit = most
        request.rounds += 1
        return bool(request.credit < 0)


class Sharing:
    """Which clients have threads, so that one who asks much leaves some to the others.

    A client is who sends the same key, or the cookie of one login. One that asks alone may have
    all. Who is refused for a wrong key does not count as asking, nor who sends none.
    """

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._lock = Lock()
        # Of the last two clients that asked: who, and when.
        self._last = self._other = ("", float("-inf"))
        # Who has a thread for which request, and since when.
        self._running: dict[Request, tuple[str, float]] = {}

    def note(self, request: Request) -> None:
        """Note that its client has asked; from the thread that answered."""
        client = _client(request)
        with self._lock:
            if client and client != self._last[0]:
                self._other = self._last
            if client:
                self._last = (client, time.monotonic())

    def begin(self, request: Request) -> bool:
        """Count a thread as its client's; whether it may have one now."""
        client, now = _client(request), time.monotonic()
        if not request.path.startswith(_WAITING_FOR_MODELS):
            with self._lock:
                other = self._other if client == self._last[0] else self._last
            is_alone = other[1] < now - _SHARING_SECONDS
            since = [began for who, began in list(self._running.values()) if who == client]
            is_young = any(began > now - _YOUNG_SECONDS for began in since)
            most = self._threads * (1 if is_alone else _MOST_OF_THREADS)
            if len(since) >= most or (is_young and not is_alone):
                return False
            self._running[request] = (client, now)
        return True

    def end(self, request: Request) -> None:
        """Give its thread back."""
        self._running.pop(request, None)


def _client(request: Request) -> str:
    """The key, however its header is spelt, or the cookie of the login; empty without either."""
    words = request.headers.get("AUTHORIZATION", "").split()
    if words:
        return str(words[-1])
    cookies = request.headers.get("COOKIE", "").split(";")
    name = f"{settings.SESSION_COOKIE_NAME}="
    return next((each for each in map(str.strip, cookies) if each.startswith(name)), "")


class Server(TcpWSGIServer):  # type: ignore[misc]
    """A listening socket and its connections."""

    channel_class = Channel
    # waitress would close connections by a clock that may jump.
    next_channel_cleanup = float("inf")
    paused_until = float("-inf")
    _has_paused = False

    def __init__(self, worker: WebWorker, *args: Any, **kwargs: Any) -> None:
        # Any: waitress' own signature
        self.log = worker.log
        # Connections with a request that nobody has begun to answer.
        self._waiting: deque[Channel] = deque()
        self.sharing = Sharing(worker.cfg.threads)
        super().__init__(*args, **kwargs)

    def readable(self) -> bool:
        """Whether to accept connections now."""
        return time.monotonic() >= self.paused_until and bool(super().readable())

    def handle_accept(self) -> None:
        """Accept a connection, or leave it to another process for a moment.

        One that is still waiting afterwards is accepted: the other process is busy or gone. More
        come with it the more are held, so that a crowd is let in soon and the shares stay even.
        """
        now = time.monotonic()
        has_paused = self._has_paused and now < self.paused_until + _PAUSE_COUNTS_SECONDS
        self._has_paused = len(self.active_channels) > CONNECTIONS.least() and not has_paused
        if self._has_paused:
            self.paused_until = now + PAUSE_SECONDS
            return
        room = self.adj.connection_limit - len(self._map)
        for _ in range(min(1 + int(len(self.active_channels) * _SHARE_AT_ONCE), room)):
            held = len(self._map)
            super().handle_accept()
            if len(self._map) == held:
                return

    def add_task(self, channel: Channel) -> None:
        """Have the channel's first request answered, at the end of this turn of the loop."""
        self._waiting.append(channel)

    def end(self, request: Request) -> None:
        """Note that a request was answered, and begin what waited for its thread."""
        self.sharing.end(request)
        self.pull_trigger()

    def begin_waiting(self) -> None:
        """Begin to answer what waits: not where the last answer is unread or a share is used up."""
        for _ in range(len(self._waiting)):
            channel = self._waiting.popleft()
            if channel.connected and channel.total_outbufs_len:
                self._waiting.append(channel)
                continue
            request = channel.requests[0]
            channel.is_refused = request.error is not None
            if channel.is_refused or request.path == _LIVENESS:
                channel.service()
            elif self.sharing.begin(request):
                self.task_dispatcher.add_task(channel)
            else:
                self._waiting.append(channel)

    def look(self) -> None:
        """Once a round: close what clients have left lying, at once where no place is free."""
        patience = 1 if self.in_connection_overflow else _PATIENCE_ROUNDS
        for channel in list(self.active_channels.values()):
            channel.look(patience=patience)


class WebWorker(Worker):  # type: ignore[misc]  # gunicorn has no types
    """A process of gunicorn in which waitress answers."""

    def run(self) -> None:
        """Answer until told to stop or gunicorn is gone; then finish what is under way."""
        logging.getLogger("waitress.queue").setLevel(logging.ERROR)
        sys.setswitchinterval(_SWITCH_SECONDS)
        self._map: dict[int, Any] = {}  # Any: waitress' sockets
        dispatcher = ThreadedTaskDispatcher()
        dispatcher.set_thread_count(self.cfg.threads)
        self._servers = [self._server(each.sock, dispatcher) for each in self.sockets]
        self._looked_at = time.monotonic()
        while self.alive and self.ppid == os.getppid():
            self._turn()
        CONNECTIONS.forget(self.age)
        deadline = time.monotonic() + self.cfg.graceful_timeout - 1
        for server in self._servers:
            server.accepting = False
            wasyncore.dispatcher.close(server)
        while self._is_under_way() and time.monotonic() < deadline:
            self._turn()

    def _server(self, sock: Any, dispatcher: ThreadedTaskDispatcher) -> Server:
        # Any: a listening socket of gunicorn's
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = _MOST_CONNECTIONS * _FILES_A_CONNECTION + _OTHER_FILES
        files = max(soft, wanted if hard == resource.RLIM_INFINITY else min(wanted, hard))
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, hard))
        adjustments = Adjustments(
            connection_limit=min((files - _OTHER_FILES) // _FILES_A_CONNECTION, _MOST_CONNECTIONS),
            # One more is read meanwhile, by which it is noticed that a client has gone.
            channel_request_lookahead=1,
            max_request_header_size=MOST_HEADER_BYTES,
            max_request_body_size=settings.DATA_UPLOAD_MAX_MEMORY_SIZE + 1,
            recv_bytes=MOST_HEADER_BYTES // 2,
            # Django decides which of a proxy's headers it believes.
            clear_untrusted_proxy_headers=False,
            log_socket_errors=False,
            ident=None,
            server_name=sock.getsockname()[0],
        )
        where = (sock.family, sock.type, sock.proto, sock.getsockname())
        return Server(
            self,
            self.wsgi,
            self._map,
            _sock=sock,
            dispatcher=dispatcher,
            adj=adjustments,
            sockinfo=where,
            bind_socket=False,
        )

    def _turn(self) -> None:
        """Read and write what can be; wait for that half a second at most."""
        self.notify()
        if self.alive:
            CONNECTIONS.record(self.age, sum(len(each.active_channels) for each in self._servers))
        until = max(each.paused_until for each in self._servers)
        pause = until - time.monotonic()
        timeout = min(_TURN_SECONDS, pause) if pause > 0 else _TURN_SECONDS
        wasyncore.loop(timeout=timeout, use_poll=True, map=self._map, count=1)
        for server in self._servers:
            server.begin_waiting()
        if time.monotonic() >= self._looked_at + ROUND_SECONDS:
            self._looked_at = time.monotonic()
            for server in self._servers:
                server.look()

    def _is_under_way(self) -> bool:
        """Close idle connections; whether any are left."""
        for server in self._servers:
            for channel in list(server.active_channels.values()):
                if channel.is_idle:
                    channel.handle_close()
        return any(server.active_channels for server in self._servers)
