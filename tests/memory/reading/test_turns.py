"""Reads in turns: so many at once, in their order, and nobody waits for ever."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from pytest_django import Settings
from rest_framework.test import APIClient

from memory.api.operations import NotedRequests
from memory.api.turns import Turns, reads

LONG = 20.0


@pytest.fixture
def one_at_a_time(settings: Settings) -> Iterator[Turns]:
    settings.READS_AT_ONCE = 1
    reads.cache_clear()
    turns = reads()
    assert turns is not None
    yield turns
    reads.cache_clear()


def waiting(turns: Turns, count: int) -> None:
    """Until so many wait."""
    until = time.monotonic() + LONG
    while len(turns._waiting) < count:
        assert time.monotonic() < until
        time.sleep(0.001)


@pytest.mark.parametrize("at_once", [1, 2, 3])
def test_so_many_at_once_and_the_others_in_their_order(at_once: int) -> None:
    turns, order, inside, most = Turns(at_once, patience=LONG), [], 0, 0
    may_end = [threading.Event() for _ in range(8)]
    changing = threading.Lock()

    def read(number: int) -> None:
        nonlocal inside, most
        with turns.taken():
            with changing:
                order.append(number)
                inside += 1
                most = max(most, inside)
            assert may_end[number].wait(LONG)
            with changing:
                inside -= 1

    with ThreadPoolExecutor(8) as threads:
        futures = []
        for number in range(8):
            futures.append(threads.submit(read, number))
            if number >= at_once:
                waiting(turns, number + 1 - at_once)
        for event in may_end:
            event.set()
        for future in futures:
            future.result(LONG)

    assert most == at_once
    assert sorted(order) == list(range(8))
    if at_once == 1:
        assert order == list(range(8))


def test_who_waits_too_long_goes_on_without_a_turn() -> None:
    turns = Turns(1, patience=0.01)

    with turns.taken():
        with turns.taken():
            pass
        with turns.taken():
            pass
    # Neither took the turn along.
    assert turns._free == 1
    assert not turns._waiting


def test_an_error_gives_the_turn_back() -> None:
    turns = Turns(1, patience=LONG)

    with pytest.raises(ZeroDivisionError), turns.taken():
        1 / 0  # noqa: B018 - the error is what it is about

    with turns.taken():
        assert turns._free == 0


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/retrieve", {"query": "ports", "agent": "kyra"}),
        ("/v1/prompt", {"query": "ports", "agent": "kyra"}),
        ("/v1/memory/query", {"query": "ports", "agent": "kyra"}),
        ("/v1/memories/search?query=ports", None),
    ],
)
@pytest.mark.usefixtures("kyra")
def test_reads_take_turns_and_give_them_back(
    path: str,
    body: dict[str, Any] | None,  # Any: JSON
    api: APIClient,
    one_at_a_time: Turns,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    free = []
    dispatch = NotedRequests.dispatch

    def seen(*args: Any, **kwargs: Any) -> Any:  # Any: Django's own signature
        free.append(one_at_a_time._free)
        return dispatch(*args, **kwargs)

    monkeypatch.setattr(NotedRequests, "dispatch", seen)

    response = api.get(path) if body is None else api.post(path, body, format="json")

    assert response.status_code == 200
    assert free == [0]
    assert one_at_a_time._free == 1


def test_writes_wait_for_nobody(
    api: APIClient, one_at_a_time: Turns, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(one_at_a_time, "taken", lambda: pytest.fail("A write waited."))

    response = api.post("/v1/memories", {"content": "Redis listens on 6379."}, format="json")

    assert response.status_code == 201
