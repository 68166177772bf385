"""A receiver of webhooks over real HTTP, which verifies what it gets by the library's own means."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from django.conf import settings
from rest_framework.test import APIClient
from standardwebhooks import Webhook

from memory.satellites.webhooks.delivering import deliver_to
from memory.satellites.webhooks.models import WEBHOOK_EVENTS, WebhookDelivery
from teams.tenancy import team_scope
from tests.support.cast import Cast


@dataclass(frozen=True)
class Received:
    """One request."""

    headers: dict[str, str]
    body: bytes

    @property
    def id(self) -> str:
        """The message's id."""
        return self.headers["webhook-id"]

    @property
    def type(self) -> str:
        """The event's type."""
        return str(self.json["type"])

    @property
    def json(self) -> Any:
        """The body."""
        return json.loads(self.body)


@dataclass
class Receiver:
    """A server that keeps what it was sent; `answer` says what it does with each request."""

    url: str = ""
    received: list[Received] = field(default_factory=list)
    answer: Callable[[Received], int] = lambda _: 204
    headers: dict[str, str] = field(default_factory=dict)
    # Bytes of its body, and the seconds between them.
    body: bytes = b""
    pause: float = 0.0

    @property
    def types(self) -> list[str]:
        """The types of what it was sent, in order."""
        return [each.type for each in self.received]

    def verified(self, secret: str) -> list[Any]:
        """Each body, once the library has found it signed with the secret."""
        return [Webhook(secret).verify(each.body, each.headers) for each in self.received]


@contextmanager
def serve(wrap: Callable[[ThreadingHTTPServer], None] = lambda _: None) -> Iterator[Receiver]:
    """A receiver on a port of this machine; `wrap` may put TLS around it."""
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            got = Received(
                {name.lower(): value for name, value in self.headers.items()},
                self.rfile.read(length),
            )
            receiver.received.append(got)
            self.send_response(receiver.answer(got))
            for name, value in receiver.headers.items():
                self.send_header(name, value)
            self.end_headers()
            for byte in receiver.body:
                time.sleep(receiver.pause)
                self.wfile.write(bytes([byte]))
                self.wfile.flush()

        def log_message(self, *args: object) -> None:
            """Nothing."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: object, client_address: object) -> None:
            """A client that leaves early is no news."""

    server = Server(("127.0.0.1", 0), Handler)
    wrap(server)
    receiver.url = f"http://127.0.0.1:{server.server_address[1]}/hook"
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield receiver
    server.shutdown()
    server.server_close()


@pytest.fixture
def receiver(monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    """A receiver on this machine, to which webhooks may lead."""
    monkeypatch.setattr(settings, "WEBHOOKS_TO_PRIVATE_ADDRESSES", True)
    with serve() as running:
        yield running


@dataclass(frozen=True)
class Hook:
    """A webhook of a team, with its secret."""

    cast: Cast
    id: Any
    secret: str

    def send(self, **given: Any) -> int:
        """Send what is due, as a worker does; how many were taken."""
        return deliver_to(team_id=self.cast.team.pk, endpoint_id=self.id, seconds=30, **given)

    def deliveries(self) -> list[WebhookDelivery]:
        """All of them, the oldest first."""
        with team_scope(team_ids=[self.cast.team.pk], actor="test"):
            rows = WebhookDelivery.objects.filter(team_id=self.cast.team.pk, endpoint_id=self.id)
            return list(rows.order_by("seq"))


def hook_to(cast: Cast, api: APIClient, url: str, **fields: object) -> Hook:
    """A new webhook of the team to that address, for every event unless `events` are named."""
    given = {"url": url, "events": list(WEBHOOK_EVENTS), **fields}
    response: Any = api.post("/v1/webhooks", given, format="json")
    assert response.status_code == 201, response.content
    made = response.json()
    return Hook(cast, made["webhook"]["id"], made["secret"])
