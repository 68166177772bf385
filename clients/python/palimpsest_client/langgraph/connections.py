"""One client for calls that wait, and one for each event loop that awaits them."""

from __future__ import annotations

import asyncio
from typing import Any

from palimpsest_client.client import AsyncPalimpsest, Palimpsest


class Connections:
    """Both clients of one server and key; `settings` are those of Palimpsest.

    What is asked for after they were closed opens them again.
    """

    def __init__(self, base_url: str, api_key: str, **settings: Any) -> None:
        # Any: as Palimpsest has them
        self._given = (base_url, api_key, settings)
        self._waiting: Palimpsest | None = self._blocking()
        # A client's connections hold on to their loop, so weak keys would keep both for ever.
        self._of_loops: dict[asyncio.AbstractEventLoop, AsyncPalimpsest] = {}

    @property
    def waiting(self) -> Palimpsest:
        """The client of the calls that wait."""
        made = self._waiting
        if made is None:
            made = self._waiting = self._blocking()
        return made

    @property
    def awaited(self) -> AsyncPalimpsest:
        """The client of the running event loop: connections cannot change theirs."""
        loop = asyncio.get_running_loop()
        if loop not in self._of_loops:
            self._forget_closed_loops()
            base_url, api_key, settings = self._given
            self._of_loops[loop] = AsyncPalimpsest(base_url, api_key, **settings)
        return self._of_loops[loop]

    def close(self) -> None:
        """Close the connections of the calls that wait."""
        made, self._waiting = self._waiting, None
        if made is not None:
            made.close()

    async def aclose(self) -> None:
        """Close the connections of the running event loop, and those of the calls that wait."""
        made = self._of_loops.pop(asyncio.get_running_loop(), None)
        if made is not None:
            await made.aclose()
        self._forget_closed_loops()
        self.close()

    def _blocking(self) -> Palimpsest:
        base_url, api_key, settings = self._given
        return Palimpsest(base_url, api_key, **settings)

    def _forget_closed_loops(self) -> None:
        # Nobody can close connections of a loop that is; they end as they are forgotten.
        for loop in [each for each in list(self._of_loops) if each.is_closed()]:
            self._of_loops.pop(loop, None)
