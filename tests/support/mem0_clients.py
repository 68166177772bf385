"""mem0's own clients, which tests drive over real HTTP, the asynchronous one like the other."""

from __future__ import annotations

import asyncio
import inspect
import os
import tempfile
from collections.abc import Callable
from typing import Any

# Read when it is imported: it would send events home, and write into the home of whoever runs it.
os.environ["MEM0_TELEMETRY"] = "False"
os.environ["MEM0_DIR"] = tempfile.mkdtemp(prefix="palimpsest-test-mem0-")

from mem0 import AsyncMemoryClient, MemoryClient

KINDS = ("sync", "async")


class Mem0:
    """One of the two clients; what it answers by a coroutine is waited for."""

    def __init__(self, kind: str, *, key: str, url: str) -> None:
        self._loop = asyncio.new_event_loop()
        made = MemoryClient if kind == "sync" else AsyncMemoryClient
        self.client = made(api_key=key, host=f"{url}/mem0")

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self.client, name)

        def call(*args: Any, **kwargs: Any) -> Any:
            answer = method(*args, **kwargs)
            return self._loop.run_until_complete(answer) if inspect.isawaitable(answer) else answer

        return call

    def close(self) -> None:
        """Close its connections and its loop."""
        if isinstance(self.client, AsyncMemoryClient):
            self._loop.run_until_complete(self.client.async_client.aclose())
        else:
            self.client.client.close()
        self._loop.close()
