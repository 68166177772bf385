"""LangGraph's interfaces over a real server; both clients of each."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from palimpsest_client.langgraph import PalimpsestSaver, PalimpsestStore

from tests.clients.conftest import Place
from tests.clients.conftest import place as place
from tests.clients.conftest import server as server


class Either:
    """An interface of LangGraph whose methods are called, or awaited under their other names."""

    def __init__(self, interface: Any, runner: asyncio.Runner | None) -> None:
        # Any: a saver or a store
        self._interface = interface
        self._runner = runner

    def __getattr__(self, name: str) -> Callable[..., Any]:  # Any: whatever the method answers
        if self._runner is None:
            called: Callable[..., Any] = getattr(self._interface, name)  # Any: as above
            return called
        method = getattr(self._interface, f"a{name}")
        runner = self._runner

        def call(*args: Any, **kwargs: Any) -> Any:  # Any: as above
            return runner.run(_whole(method(*args, **kwargs)))

        return call


async def _whole(given: Any) -> Any:  # Any: as above
    if inspect.isasyncgen(given):
        return [each async for each in given]
    return await given


@pytest.fixture(params=["called", "awaited"])
def runner(request: pytest.FixtureRequest) -> Iterator[asyncio.Runner | None]:
    """The loop of what is awaited; none for what is called."""
    if request.param == "called":
        yield None
        return
    with asyncio.Runner() as made:
        yield made


@pytest.fixture
def store(place: Place, runner: asyncio.Runner | None) -> Iterator[Either]:
    """A store with a key of the team."""
    with PalimpsestStore(place.url, place.key(), retries=0) as made:
        yield Either(made, runner)
        if runner:
            runner.run(made.__aexit__())


@pytest.fixture
def saver(place: Place, runner: asyncio.Runner | None) -> Iterator[Either]:
    """A saver with a key of the team."""
    with PalimpsestSaver(place.url, place.key(), retries=0) as made:
        yield Either(made, runner)
        if runner:
            runner.run(made.__aexit__())
