"""The two clients. They have the same operations; those of AsyncPalimpsest are awaited."""

from __future__ import annotations

from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from itertools import chain
from typing import Any, Self

import httpx
from httpx_retries import RetryTransport
from pydantic import BaseModel

from palimpsest_client.calls import Call
from palimpsest_client.operations import SenderT, operation
from palimpsest_client.resources.chat import Chat
from palimpsest_client.resources.conversations import Conversations, Jobs, Threads
from palimpsest_client.resources.graphs import Checkpoints, Items
from palimpsest_client.resources.memories import (
    ConsentRequests,
    Consolidation,
    Contradictions,
    Memories,
)
from palimpsest_client.resources.models import ChatModels, Providers
from palimpsest_client.resources.people import Agents, Projects, Users
from palimpsest_client.resources.reading import Context, Reading
from palimpsest_client.resources.records import Audit, Events
from palimpsest_client.resources.tasks import Tasks, Workflows
from palimpsest_client.resources.transfer import Imports, Team
from palimpsest_client.resources.webhooks import Webhooks
from palimpsest_client.sending import AsyncSender, Sender

TIMEOUT = httpx.Timeout(60.0, connect=5.0)
LIMITS = httpx.Limits(max_connections=20, max_keepalive_connections=20)
RETRIES = 3


class Health(BaseModel):
    """The state of the server ("ok", "degraded" without Redis, "unavailable") and its services."""

    status: str
    postgresql: str
    redis: str
    background: str
    oldest_waiting_job_seconds: float | None
    pending_vectors: int | None = None


class Operations(Reading[SenderT]):
    """All operations, by what they act on."""

    def __init__(self, sender: SenderT) -> None:
        super().__init__(sender)
        self.agents = Agents(sender)
        self.audit = Audit(sender)
        self.chat = Chat(sender)
        self.chat_models = ChatModels(sender)
        self.checkpoints = Checkpoints(sender)
        self.consent_requests = ConsentRequests(sender)
        self.consolidation = Consolidation(sender)
        self.context = Context(sender)
        self.contradictions = Contradictions(sender)
        self.conversations = Conversations(sender)
        self.events = Events(sender)
        self.items = Items(sender)
        self.imports = Imports(sender)
        self.jobs = Jobs(sender)
        self.memories = Memories(sender)
        self.projects = Projects(sender)
        self.providers = Providers(sender)
        self.tasks = Tasks(sender)
        self.team = Team(sender)
        self.threads = Threads(sender)
        self.users = Users(sender)
        self.webhooks = Webhooks(sender)
        self.workflows = Workflows(sender)

    def using(
        self, *, idempotency_key: str | None = None, timeout: float | httpx.Timeout | None = None
    ) -> Operations[SenderT]:
        """The same operations with a key of your own for the next POST, or another timeout."""
        keys = self._sender.keys
        if idempotency_key is not None:
            keys = chain([idempotency_key], keys)
        patience = self._sender.timeout if timeout is None else timeout
        return Operations(replace(self._sender, keys=keys, timeout=patience))

    @operation
    def health(self) -> Call[Health]:
        """The health of the server and its services, asked once; it needs no key."""
        return Call("GET", "/readyz", dict.fromkeys((200, 503), Health))


class Palimpsest(Operations[Sender]):
    """A client that waits for its answers.

    `base_url` is the server's address, with or without `/v1`. `timeout` is in seconds, for each
    try; `retries` is how often a request is sent again where that is safe. `transport` replaces
    the connections of httpx, for a proxy or certificates of your own, and `limits` then too.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str,
        *,
        timeout: float | httpx.Timeout = TIMEOUT,
        retries: int = RETRIES,
        limits: httpx.Limits = LIMITS,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        http = httpx.Client(
            transport=RetryTransport(transport or httpx.HTTPTransport(limits=limits)),
            timeout=timeout,
            **_identity(base_url, api_key),
        )
        super().__init__(Sender(http, retries))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        self._sender.http.close()


class AsyncPalimpsest(Operations[AsyncSender]):
    """A client whose answers are awaited; the same as Palimpsest in all else."""

    def __init__(
        self,
        base_url: str,
        api_key: str,
        *,
        timeout: float | httpx.Timeout = TIMEOUT,
        retries: int = RETRIES,
        limits: httpx.Limits = LIMITS,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        http = httpx.AsyncClient(
            transport=RetryTransport(transport or httpx.AsyncHTTPTransport(limits=limits)),
            timeout=timeout,
            **_identity(base_url, api_key),
        )
        super().__init__(AsyncSender(http, retries))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close all connections."""
        await self._sender.http.aclose()


def release() -> str:
    """The version of this distribution; `source` where it is not installed."""
    try:
        return version("palimpsest-client")
    except PackageNotFoundError:
        return "source"


def _identity(base_url: str, api_key: str) -> dict[str, Any]:  # Any: what both clients take
    return {
        "base_url": base_url.rstrip("/").removesuffix("/v1"),
        "headers": {
            "Authorization": f"Bearer {api_key}",
            "Accept": "application/json, application/x-ndjson, text/event-stream",
            "User-Agent": f"palimpsest-client/{release()}",
        },
    }
