"""The web server: granian's processes, and in each of them threads that answer.

granian reads and writes the connections. `Bridge` gives a request to a thread once its whole body
has arrived, so clients that never finish hold nobody up. Record: docs/decisions/0061-granian.md.
"""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import os
import resource
import signal
import socket
import sys
import tempfile
import threading
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, MutableMapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from hashlib import blake2b
from multiprocessing import parent_process
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO, Any
from uuid import UUID
from weakref import WeakValueDictionary

from asgiref.wsgi import WsgiToAsgiInstance

from config.embedded.paths import home

Message = MutableMapping[str, Any]  # Any: ASGI's own looseness
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Wsgi = Callable[[dict[str, Any], Any], Any]  # Any: as loose as WSGI

logger = logging.getLogger(__name__)

METRICS = "PROMETHEUS_MULTIPROC_DIR"
# A body may take so long, and a second more for each of these bytes that have arrived.
PATIENCE_SECONDS = 30.0
_LEAST_BYTES_A_SECOND = 10_000
# A body may come in so many pieces, and one more for each of these bytes.
_MOST_PIECES, _PIECE_LEAST_BYTES = 20_000, 256
# Bodies on their way may take so many of the largest together; small ones are not counted.
_MOST_ARRIVING = 4
_SMALL_BYTES = 64 * 1024
# What of an answer is written at a time; a client that takes none of it for the above is left.
_PIECE_BYTES = 256 * 1024
# These wait for models and hardly compute: they have threads of their own, and one client has no
# more than three quarters of these.
_WAITING = "/v1/chat/"
_WAITING_FOR_EACH, _WAITING_OF_ONE = 4, 3
# These go on for up to two minutes, in the same threads, a few for each client.
_LONG = "/extract"
# Asked by what ends a process that does not answer.
_PROBE = "/healthz"
_NOBODY = blake2b(b"", digest_size=16).digest()
# Others ask if they did in these seconds.
_RECENT_SECONDS = 5.0
_MOST_CONNECTIONS = 2_000
# A connection may have a file of its body besides; the application has files of its own.
_MOST_FILES = 2 * _MOST_CONNECTIONS + 500
_START, _BODY = "http.response.start", "http.response.body"
_GRACE_SECONDS = 25
_MOST_HEADER_BYTES = 64 * 1024
# Python lets a computing thread run for 5 ms before the event loop gets its turn (record 61).
_SWITCH_SECONDS = 0.001


def command(*, host: str, port: int) -> list[str]:
    """Return the command line of the web server; WEB_CONCURRENCY and WEB_THREADS are its sizes."""
    return [sys.executable, "-m", "config.web_server", host, str(port)]


def main(host: str, port: int, *, target: str = "config.web_server:application") -> None:
    """Serve what `target` makes until told to stop; then let requests under way end."""
    # Here, as the launcher needs only the above.
    from granian.constants import Interfaces
    from granian.http import HTTP1Settings
    from granian.log import LogLevels
    from granian.server import Server

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    _prepare_metrics()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    files = _MOST_FILES if hard == resource.RLIM_INFINITY else min(_MOST_FILES, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, files), hard))
    Server(
        target,
        factory=True,
        interface=Interfaces.ASGI,
        address=str(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][4][0]),
        port=port,
        workers=int(os.environ.get("WEB_CONCURRENCY") or 2),
        websockets=False,
        backlog=_MOST_CONNECTIONS,
        backpressure=_MOST_CONNECTIONS,
        http1_settings=HTTP1Settings(max_buffer_size=_MOST_HEADER_BYTES),
        log_level=LogLevels((os.environ.get("LOG_LEVEL") or "WARNING").lower()),
        respawn_failed_workers=True,
        workers_kill_timeout=_GRACE_SECONDS,
    ).serve()


def application() -> Bridge:
    """Load the application in a process of the server, with all that its first request needs."""
    from config import telemetry

    _end_with_parent()
    telemetry.start("web")  # before the application is loaded
    from django.conf import settings
    from django.core.wsgi import get_wsgi_application

    wsgi = get_wsgi_application()
    from memory.understanding.embedders import configured_spec
    from memory.writing.indexing.reembedding import log_embedding_status

    warm_up()
    log_embedding_status(wanted=configured_spec().name)
    sys.setswitchinterval(_SWITCH_SECONDS)
    # What is loaded now stays: a full collection that looked at all of it would stop every
    # thread of the process for a quarter of a second (record 61).
    gc.collect()
    gc.freeze()
    return Bridge(
        wsgi,
        threads=int(os.environ.get("WEB_THREADS") or 8),
        most_bytes=settings.DATA_UPLOAD_MAX_MEMORY_SIZE,
        at_end=telemetry.stop,
    )


class Bridge:
    """An ASGI application that answers with a WSGI application, in threads.

    A client (a key, or a login) has half of the threads at most, and a quarter while others ask, so
    that one that asks much holds nobody up; the rest of its requests wait. What waited when the
    others came still has its half.
    """

    def __init__(
        self,
        wsgi: Wsgi,
        *,
        threads: int,
        most_bytes: int,
        patience: float = PATIENCE_SECONDS,
        at_end: Callable[[], None] = lambda: None,
    ) -> None:
        self._wsgi, self._at_end = wsgi, at_end
        self._most_bytes, self._patience = most_bytes, patience
        self._computing = ThreadPoolExecutor(threads, "web")
        self._waiting = ThreadPoolExecutor(threads * _WAITING_FOR_EACH, "web-waiting")
        self._probing = ThreadPoolExecutor(1, "web-probe")
        self._chats = _Shares(threads * _WAITING_OF_ONE)
        self._alone = _Shares(max(1, threads // 2))
        self._beside, self._long = (_Shares(max(1, threads // 4)) for _ in range(2))
        self._asked_at: OrderedDict[bytes, float] = OrderedDict()
        self._arriving = 0

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request, or follow the life of the server."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
            return
        with SpooledTemporaryFile(max_size=_SMALL_BYTES) as body:
            try:
                await self._read(scope, receive, body)
            except _RefusalError as refusal:
                await refusal.answer(send)
            else:
                await self._answer(scope, receive, send, body)

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        self._at_end()
        await send({"type": "lifespan.shutdown.complete"})

    async def _read(self, scope: Message, receive: Receive, body: IO[bytes]) -> None:
        """Read the body; raises _RefusalError for one that is too large or slow, or breaks off."""
        if int(_header(scope, b"content-length") or 0) > self._most_bytes:
            raise self._too_large()
        began, size, pieces, is_whole = asyncio.get_running_loop().time(), 0, 0, False
        try:
            async with asyncio.timeout_at(began + self._patience) as deadline:
                while not is_whole:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise _RefusalError(400, "Not HTTP", "The body has no end.")
                    piece = message.get("body", b"")
                    size, pieces = size + len(piece), pieces + 1
                    self._arriving += len(piece)
                    if size > self._most_bytes:
                        raise self._too_large()
                    if pieces > _MOST_PIECES + size // _PIECE_LEAST_BYTES:
                        raise _RefusalError(
                            400, "Bad request", "The body comes in too small pieces."
                        )
                    if size > _SMALL_BYTES and self._arriving > _MOST_ARRIVING * self._most_bytes:
                        detail = "Too many large bodies are on their way here."
                        raise _RefusalError(503, "Service unavailable", detail, retry_after=5)
                    body.write(piece)
                    deadline.reschedule(began + self._patience + size / _LEAST_BYTES_A_SECOND)
                    is_whole = not message.get("more_body", False)
        except TimeoutError:
            raise _RefusalError(408, "Request timeout", "The body came too slowly.") from None
        finally:
            self._arriving -= size
        body.seek(0)

    def _too_large(self) -> _RefusalError:
        detail = f"A body may have {self._most_bytes:,} bytes. Send less at a time."
        return _RefusalError(413, "Content too large", detail)

    async def _answer(self, scope: Message, receive: Receive, send: Send, body: IO[bytes]) -> None:
        exchange = _Exchange(self._wsgi, scope, send, patience=self._patience)
        loop = asyncio.get_running_loop()
        watching = loop.create_task(exchange.watch(receive))
        try:
            path = scope["path"]
            is_chat, is_long = path.startswith(_WAITING), path.endswith(_LONG)
            if path == _PROBE:
                written = await loop.run_in_executor(self._probing, exchange.answer, body)
            elif is_chat or is_long:
                async with (self._chats if is_chat else self._long).of(_client(scope)):
                    written = await loop.run_in_executor(self._waiting, exchange.answer, body)
            else:
                async with self._share(scope):
                    written = await loop.run_in_executor(self._computing, exchange.answer, body)
            await asyncio.wrap_future(written)
        except _GoneError:
            pass  # granian closes a connection whose answer has no end
        except Exception:
            logger.exception("An answer broke off")
        finally:
            watching.cancel()

    def _share(self, scope: Message) -> asyncio.Semaphore:
        client = _client(scope)
        if client == _NOBODY:  # monitors and pages without a login, which are nobody's rivals
            return self._beside.of(client)
        now = asyncio.get_running_loop().time()
        self._asked_at[client] = now
        self._asked_at.move_to_end(client)
        while next(iter(self._asked_at.values())) < now - _RECENT_SECONDS:
            self._asked_at.popitem(last=False)
        return (self._alone if len(self._asked_at) == 1 else self._beside).of(client)


class _Shares:
    """Semaphores of clients, each for so many threads, for as long as one is in use."""

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._of: WeakValueDictionary[bytes, asyncio.Semaphore] = WeakValueDictionary()

    def of(self, client: bytes) -> asyncio.Semaphore:
        """Returns the client's."""
        if (share := self._of.get(client)) is None:
            share = self._of[client] = asyncio.Semaphore(self._threads)
        return share


class _Exchange(WsgiToAsgiInstance):
    def __init__(self, wsgi: Wsgi, scope: Message, send: Send, *, patience: float) -> None:
        super().__init__(wsgi)  # type: ignore[no-untyped-call]
        # WSGI cannot tell `_` from `-`: a client could send what only a proxy may say.
        headers = [each for each in scope["headers"] if b"_" not in each[0]]
        self.scope = {**scope, "headers": headers}
        self._send, self._patience = send, patience
        self._loop = asyncio.get_running_loop()
        self._is_gone = threading.Event()

    async def watch(self, receive: Receive) -> None:
        """Note when the client hangs up."""
        while (await receive())["type"] != "http.disconnect":
            pass
        self._is_gone.set()

    def answer(self, body: IO[bytes]) -> Future[None]:
        """Answer in this thread; the future ends when the client has all of it.

        Raises _GoneError where the client has hung up.
        """
        if self._is_gone.is_set():
            raise _GoneError
        environ = self.build_environ(self.scope, body)  # type: ignore[no-untyped-call]
        environ["CONTENT_LENGTH"] = str(body.seek(0, os.SEEK_END))
        environ["palimpsest.is_gone"] = self._is_gone.is_set
        body.seek(0)
        response = self.wsgi_application(environ, self.start_response)
        try:
            if response.streaming:
                for piece in response:
                    # Waits, so that no more is made than the client takes.
                    self._write(piece, more=True).result()
                return self._write(b"", more=False)
            return self._write(b"".join(response), more=False)
        finally:
            response.close()

    def _write(self, content: bytes, *, more: bool) -> Future[None]:
        return asyncio.run_coroutine_threadsafe(self._written(content, more=more), self._loop)

    async def _written(self, content: bytes, *, more: bool) -> None:
        """Write; raises _GoneError for a client that has hung up or reads nothing."""
        messages: list[Message] = [] if self.response_started else [self.response_start]
        self.response_started = True
        for at in range(0, len(content) or 1, _PIECE_BYTES):
            is_last = not more and at + _PIECE_BYTES >= len(content)
            piece = content[at : at + _PIECE_BYTES]
            messages.append({"type": _BODY, "body": piece, "more_body": not is_last})
        try:
            for each in messages:
                if self._is_gone.is_set():
                    raise _GoneError
                async with asyncio.timeout(self._patience):
                    await self._send(each)
        except TimeoutError:
            self._is_gone.set()
            raise _GoneError from None


class _GoneError(Exception):
    """The client has hung up, or reads nothing of its answer."""


class _RefusalError(Exception):
    """A problem document (RFC 9457) in place of an answer."""

    def __init__(self, code: int, title: str, detail: str, *, retry_after: int = 0) -> None:
        super().__init__(detail)
        self._code, self._title, self._detail = code, title, detail
        self._retry_after = retry_after

    async def answer(self, send: Send) -> None:
        """Send it, and close the connection."""
        document = {"type": "about:blank", "title": self._title, "status": self._code}
        body = json.dumps({**document, "detail": self._detail}).encode()
        headers = {
            b"content-type": b"application/problem+json",
            b"content-length": b"%d" % len(body),
            b"connection": b"close",
        }
        if self._retry_after:
            headers[b"retry-after"] = b"%d" % self._retry_after
        await send({"type": _START, "status": self._code, "headers": list(headers.items())})
        await send({"type": _BODY, "body": body})


def _client(scope: Message) -> bytes:
    """Returns a digest of the key or login that a request was sent with."""
    sent = _header(scope, b"authorization") or _header(scope, b"cookie")
    return blake2b(sent, digest_size=16).digest()


def _header(scope: Message, name: bytes) -> bytes:
    return next((value for key, value in scope["headers"] if key == name), b"")


def _prepare_metrics() -> None:
    """Empties and names the folder of the processes' counts before the client looks for it."""
    if not os.environ.get(METRICS):
        folder = home() / "metrics"
        with suppress(OSError):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        is_ours = os.access(folder, os.W_OK)
        os.environ[METRICS] = str(folder) if is_ours else tempfile.mkdtemp(prefix="palimpsest-")
    for file in Path(os.environ[METRICS]).glob("*.db"):
        file.unlink(missing_ok=True)


def _end_with_parent() -> None:
    """Stops this process where the one that started it was killed, even before this call.

    The signal is repeated, as granian ignores it while the application is loaded.
    """
    parent = parent_process()
    if parent is None:
        return

    def watch() -> None:
        while os.getppid() == parent.pid:
            time.sleep(1)
        for _ in range(_GRACE_SECONDS):
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(1)
        os.kill(os.getpid(), signal.SIGKILL)

    threading.Thread(target=watch, name="parent", daemon=True).start()


def warm_up() -> bool:
    """Loads the API, the models and satellites, and reads once; returns whether it could read."""
    from django.db import DatabaseError, InterfaceError, connection
    from django.urls import get_resolver
    from django.utils import timezone

    from memory.domain.audience import Viewer
    from memory.domain.scoring import Weights
    from memory.domain.types import Statement
    from memory.reading.packing import Packing
    from memory.reading.questions import Question, Read
    from memory.reading.retrieval import prompt
    from memory.satellite import satellites
    from memory.understanding.judging import small_judge
    from memory.understanding.tools import default_tools
    from teams.errors import UnavailableError

    get_resolver().url_patterns  # noqa: B018 - a property that imports every view
    now, nobody = timezone.now(), UUID(int=0)
    small_judge().judge(
        existing=Statement("Dana lives in Paris.", now),
        new=Statement("Dana lives in Oslo now.", now),
    )
    for each in satellites():
        each.warm_up()
    read = Read(
        viewer=Viewer(nobody, actor="warm-up", agent_id=nobody, end_user_id=nobody),
        question=Question("What is remembered of this?"),
        is_counted=False,
        tools=default_tools(),
        now=now,
    )
    try:
        prompt(read, packing=Packing(weights=Weights(), token_budget=1_000))
    except (DatabaseError, InterfaceError, UnavailableError) as error:
        logger.warning("Serving without having warmed up: %s", error)
        return False
    finally:
        connection.close()  # back into the pool, with what it has planned
    return True


if __name__ == "__main__":
    _host, _port = sys.argv[1:] or (os.environ.get("HOST"), os.environ.get("PORT"))
    main(_host or "127.0.0.1", int(_port or 8000))
