"""A process computes a few reads at a time, and none waits for ever."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.utils import timezone
from pytest_django import Settings

from memory.domain.viewer import Viewer
from memory.services.read.ranking import Question
from memory.services.read.read_queue import ReadQueue, queued_read, read_queue
from memory.services.read.retrieval import retrieve
from memory.understanding.tools import Tools

LONG = 60.0


@pytest.fixture(autouse=True)
def own_queue() -> Iterator[None]:
    """Read the setting anew before and after each test."""
    read_queue.cache_clear()
    yield
    read_queue.cache_clear()


def test_no_more_than_the_places_are_held_at_once() -> None:
    queue = ReadQueue(2, patience=LONG)
    inside, most, counting = 0, 0, threading.Lock()

    def read() -> None:
        nonlocal inside, most
        for _ in range(200):
            with queue.place():
                with counting:
                    inside += 1
                    most = max(most, inside)
                with counting:
                    inside -= 1

    with ThreadPoolExecutor(8) as threads:
        for future in [threads.submit(read) for _ in range(8)]:
            future.result(LONG)

    assert 1 <= most <= 2


def test_who_waited_long_enough_goes_on_without_a_place() -> None:
    queue = ReadQueue(1, patience=0.001)

    with queue.place() as first, queue.place() as second:
        assert (first, second) == (True, False)

    with queue.place() as again:
        assert again


def test_an_error_gives_the_place_back() -> None:
    queue = ReadQueue(1, patience=0.001)

    with pytest.raises(ZeroDivisionError), queue.place():
        _ = 1 / 0

    with queue.place() as again:
        assert again


def test_a_read_holds_the_only_place_and_gives_it_back(
    viewer: Viewer, tools: Tools, settings: Settings
) -> None:
    settings.READS_AT_ONCE = 1
    queue = read_queue()
    assert queue is not None

    retrieve(
        viewer=viewer,
        question=Question("Which port does Redis listen on?"),
        limit=5,
        tools=tools,
        now=timezone.now(),
    )

    with queue.place() as is_free:
        assert is_free


def test_there_is_no_queue_where_the_setting_is_0(settings: Settings) -> None:
    settings.READS_AT_ONCE = 0

    assert read_queue() is None
    with queued_read(), queued_read():
        pass
