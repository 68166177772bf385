"""One client for calls that wait, and one for each event loop that awaits them."""

from __future__ import annotations

import asyncio
from typing import Any
from weakref import WeakKeyDictionary

from palimpsest_client.client import AsyncPalimpsest, Palimpsest


class Connections:
    """Both clients of one server and key; `settings` are those of Palimpsest."""

    def __init__(self, base_url: str, api_key: str, **settings: Any) -> None:
        # Any: as Palimpsest has them
        self.waiting = Palimpsest(base_url, api_key, **settings)
        self._given = (base_url, api_key, settings)
        self._of_loops: WeakKeyDictionary[asyncio.AbstractEventLoop, AsyncPalimpsest] = (
            WeakKeyDictionary()
        )

    @property
    def awaited(self) -> AsyncPalimpsest:
        """The client of the running event loop: connections cannot change theirs."""
        loop = asyncio.get_running_loop()
        if loop not in self._of_loops:
            base_url, api_key, settings = self._given
            self._of_loops[loop] = AsyncPalimpsest(base_url, api_key, **settings)
        return self._of_loops[loop]

    def close(self) -> None:
        """Close the connections of the calls that wait."""
        self.waiting.close()

    async def aclose(self) -> None:
        """Close the connections of the running event loop, and those of the calls that wait."""
        await self.awaited.aclose()
        self.close()
