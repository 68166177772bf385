"""Connections of savers and stores: closed with their loops, and opened again."""

from __future__ import annotations

import asyncio

from palimpsest_client.langgraph import PalimpsestStore
from palimpsest_client.langgraph.connections import Connections

from tests.clients.conftest import Place

NAMESPACE, KEY = ("users", "sarah"), "tea"
TEA = {"text": "Sarah drinks her tea black."}


def test_a_store_that_was_closed_opens_again(place: Place) -> None:
    store = PalimpsestStore(place.url, place.key(), retries=0)

    async def read() -> object:
        async with store:
            item = await store.aget(NAMESPACE, KEY)
        return item and item.value

    async def twice() -> list[object]:
        return [await read(), await read()]

    with store:
        store.put(NAMESPACE, KEY, TEA)
    with store:
        store.put(NAMESPACE, "cup", TEA)
    assert asyncio.run(twice()) == [TEA, TEA]
    assert asyncio.run(read()) == TEA
    with store:
        assert store.get(NAMESPACE, KEY) is not None


def test_clients_of_ended_loops_are_let_go(place: Place) -> None:
    connections = Connections(place.url, place.key(), retries=0)

    async def client() -> object:
        return connections.awaited

    before = [asyncio.run(client()) for _ in range(3)]
    kept = list(connections._of_loops.values())
    with asyncio.Runner() as going:
        first, again = going.run(client()), going.run(client())
        # Another loop ends its own connections, not those of one that goes on.
        asyncio.run(connections.aclose())
        later = going.run(client())

    assert kept == before[-1:]
    assert first is again is later
    assert list(connections._of_loops.values()) == [first]
