"""A real server: what it refuses to read, and PostgreSQL or Redis going away and coming back."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from email.message import Message
from pathlib import Path
from typing import Any

import pytest

from config import embedded, web_server

FOREIGN = ("PORT", "HOST", "DATABASE_", "REDIS_", "DJANGO_", "PALIMPSEST_", "OPENAI_", "WEB_")


@dataclass(frozen=True)
class Answer:
    """An answer of the server."""

    status: int
    headers: Message
    body: Any


@dataclass(frozen=True)
class Server:
    """A served installation of its own."""

    home: Path
    port: int
    key: str

    def ask(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Send a request with the key."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={
                "Authorization": f"Bearer {self.key}",
                "Content-Type": "application/json",
                **(headers or {}),
            },
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                return Answer(response.status, response.headers, json.load(response))
        except urllib.error.HTTPError as error:
            with error:
                content = error.read()
                return Answer(error.code, error.headers, json.loads(content) if content else None)


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """The web server, on embedded servers of its own."""
    with tempfile.TemporaryDirectory(prefix="palimpsest-test-") as folder:
        home = Path(folder) / "home"
        port = free_port()
        clean = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
        environment = {
            **clean,
            "PALIMPSEST_HOME": str(home),
            "WEB_CONCURRENCY": "1",
        }

        def manage(*arguments: str) -> str:
            done = subprocess.run(
                [sys.executable, "manage.py", *arguments],
                cwd=embedded.PROJECT_ROOT,
                env=environment,
                check=True,
                capture_output=True,
                text=True,
            )
            return done.stdout.strip()

        embedded.start_postgres(home)
        embedded.start_redis(home)
        process: subprocess.Popen[bytes] | None = None
        try:
            manage("migrate", "--verbosity", "0")
            key = manage("issue_key", "--team", "acme")
            process = subprocess.Popen(
                web_server.command(host="127.0.0.1", port=port),
                cwd=embedded.PROJECT_ROOT,
                env=environment,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            running = Server(home, port, key)
            wait_until_ready(running)
            yield running
        finally:
            if process is not None:
                process.terminate()
                process.wait(timeout=30)
            embedded.stop_redis(home)
            embedded.stop_postgres(home)


def wait_until_ready(server: Server) -> None:
    """Wait for /readyz to say 200, and fail when it never does."""
    for _ in range(600):
        try:
            if server.ask("GET", "/readyz").status == 200:
                return
        except OSError:
            pass
        time.sleep(0.1)
    pytest.fail("the server did not become ready")


Request = tuple[str, str, object]
REQUESTS: list[Request] = [
    ("GET", "/v1/memories", None),
    ("GET", "/v1/memories/search?query=tea", None),
    ("POST", "/v1/memories", {"content": "Sarah likes tea."}),
    ("POST", "/v1/conversations", {"agent": "kyra", "user": "sarah", "thread_id": "t"}),
    ("POST", "/v1/retrieve", {"agent": "kyra", "query": "tea"}),
]


@pytest.fixture
def warm(server: Server) -> Server:
    """The server with open connections to both of its services."""
    wait_until_ready(server)
    statuses = {server.ask(*request).status for request in [REQUESTS[3], *REQUESTS]}
    assert statuses <= {200, 201}
    return server


@pytest.mark.parametrize(
    ("address", "headers", "statuses"),
    [
        (f"/v1/memories/search?query={'a+' * 3_990}", {}, {200}),
        ("/healthz", {"X-Long": "x" * 60_000}, {200}),
        (f"/healthz?{'x' * 300_000}", {}, {414, 431}),
        ("/healthz", {"X-Long": "x" * 300_000}, {431}),
        ("/healthz", {f"X-{number}": "x" for number in range(200)}, {431}),
        ("/healthz", {"X Spaced": "x"}, {400}),
    ],
    ids=["an address", "a header", "a long address", "a long header", "many headers", "no header"],
)
def test_addresses_and_headers_are_read_up_to_a_limit(
    server: Server, address: str, headers: dict[str, str], statuses: set[int]
) -> None:
    assert server.ask("GET", address, headers=headers).status in statuses


def test_without_postgresql_it_says_503_and_heals(warm: Server) -> None:
    embedded.stop_postgres(warm.home)
    try:
        # All at once: each waits a few seconds for a connection.
        with ThreadPoolExecutor(len(REQUESTS) + 2) as pool:
            probes: list[Request] = [("GET", "/readyz", None), ("GET", "/healthz", None)]
            *away, ready, health = pool.map(lambda each: warm.ask(*each), [*REQUESTS, *probes])
        # Long enough for a pool that doubles its distances to miss the return by seconds.
        time.sleep(6)
    finally:
        embedded.start_postgres(warm.home)
    back = [warm.ask(*request).status for request in REQUESTS]

    assert [each.status for each in away] == [503] * len(REQUESTS)
    for each in away:
        assert each.headers["Content-Type"] == "application/problem+json"
        assert int(each.headers["Retry-After"]) >= 1
        assert each.body["status"] == 503
    assert (ready.status, ready.body["postgresql"], ready.body["redis"]) == (503, "away", "ok")
    assert health.status == 200
    assert set(back) <= {200, 201}


def test_without_redis_tasks_say_so_and_memories_go_on(warm: Server) -> None:
    item = {"kind": "reasoning", "text": "The port is read twice."}
    begun = warm.ask("POST", "/v1/tasks", {"id": "t", "agent": "kyra", "project": "apollo"})
    noted = warm.ask("POST", "/v1/tasks/t/items", item)
    embedded.stop_redis(warm.home)
    try:
        path = f"/v1/tasks/t/items/{noted.body['id']}/promote"
        tasks: list[Request] = [
            ("POST", "/v1/tasks", {"agent": "kyra"}),
            ("GET", "/v1/tasks/t", None),
            ("POST", "/v1/tasks/t/items", item),
            ("GET", "/v1/tasks/t/items", None),
            ("POST", path, {}),
            ("POST", "/v1/tasks/t/complete", None),
            ("POST", "/v1/context/package", {"task": "t", "agent": "kyra"}),
        ]
        away = [warm.ask(*request) for request in tasks]
        fact = {"content": "The port is 5433.", "project": "apollo"}
        stated = warm.ask("POST", "/v1/memories", fact)
        promoted = warm.ask("POST", f"/v1/memories/{stated.body['id']}/promote")
    finally:
        embedded.start_redis(warm.home)
    time.sleep(2.5)  # the pause after which Redis is asked again
    again = warm.ask("POST", "/v1/tasks", {"agent": "kyra"})

    assert (begun.status, noted.status) == (201, 201)
    assert [each.status for each in away] == [503] * len(tasks)
    for each in away:
        assert int(each.headers["Retry-After"]) >= 1
        assert "Redis, which holds tasks and their items" in each.body["detail"]
    assert (stated.status, promoted.status) == (201, 200)
    assert again.status == 201


def test_without_redis_what_needs_none_keeps_working(warm: Server) -> None:
    embedded.stop_redis(warm.home)
    try:
        away = [warm.ask(*request) for request in REQUESTS]
        conversation = away[3].body["id"]
        path = f"/v1/conversations/{conversation}"
        texts = [{"role": "user", "content": f"Message {n}."} for n in range(25)]
        posted = warm.ask("POST", f"{path}/messages", {"messages": texts})
        closed = warm.ask("POST", f"{path}/close")
        extracted = warm.ask("POST", f"{path}/extract", {"wait": True})
        ready, health = warm.ask("GET", "/readyz"), warm.ask("GET", "/healthz")
    finally:
        embedded.start_redis(warm.home)
    back = warm.ask("GET", "/readyz")

    assert {each.status for each in away} <= {200, 201}
    assert (posted.status, closed.status, extracted.status) == (201, 200, 200)
    assert (ready.status, ready.body["redis"], ready.body["postgresql"]) == (200, "away", "ok")
    assert (ready.body["status"], health.status) == ("degraded", 200)
    assert (back.body["status"], back.body["redis"]) == ("ok", "ok")


def test_what_was_acknowledged_before_an_outage_is_there_after_it(warm: Server) -> None:
    text = "The acknowledged fact is kept."
    written = warm.ask("POST", "/v1/memories", {"content": text, "check": False})
    embedded.stop_postgres(warm.home)
    embedded.start_postgres(warm.home)

    read = warm.ask("GET", f"/v1/memories/{written.body['id']}")

    assert (read.status, read.body["content"]) == (200, text)
