"""Reads in turns: so many at once, in their order, and nobody waits for ever."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest
from django.utils import timezone
from pytest_django import Settings

from memory.clients.tools import Tools
from memory.domain.scoring import Weights
from memory.domain.tokens import ESTIMATE
from memory.domain.viewer import Viewer
from memory.services.reading.prompting import build_prompt
from memory.services.reading.ranking import Question
from memory.services.reading.retrieval import retrieve, search
from memory.services.reading.turns import Turns, in_turn, reads
from memory.services.writing.explicit import StatedMemory, remember
from teams.models import Agent

LONG = 20.0


def until(holds: Callable[[], bool]) -> None:
    """Wait for what is to happen."""
    last = time.monotonic() + LONG
    while not holds():
        assert time.monotonic() < last
        time.sleep(0.001)


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(8) as pool:
        yield pool


class Callers:
    """Who come one after another, and stay inside until they are told to leave."""

    def __init__(self, turns: Turns, threads: ThreadPoolExecutor) -> None:
        self.turns, self._threads = turns, threads
        self.order: list[int] = []
        self.most = self._inside = 0
        self._may_leave: list[threading.Event] = []
        self._futures: list[Future[None]] = []
        self._changing = threading.Lock()

    def come(self) -> None:
        """One more, who is inside or waits at the end."""
        number, seen = len(self._futures), len(self.order) + self.turns.waiting
        self._may_leave.append(threading.Event())
        self._futures.append(self._threads.submit(self._stay, number))
        until(lambda: len(self.order) + self.turns.waiting > seen)

    def leave(self, number: int) -> None:
        """That one goes."""
        self._may_leave[number].set()
        self._futures[number].result(LONG)

    def _stay(self, number: int) -> None:
        with self.turns.taken():
            with self._changing:
                self.order.append(number)
                self._inside += 1
                self.most = max(self.most, self._inside)
            assert self._may_leave[number].wait(LONG)
            with self._changing:
                self._inside -= 1


@pytest.mark.parametrize("at_once", [1, 2, 3])
def test_so_many_at_once_and_the_others_in_their_order(
    at_once: int, threads: ThreadPoolExecutor
) -> None:
    callers = Callers(Turns(at_once, patience=LONG), threads)
    for _ in range(8):
        callers.come()
    assert callers.order == list(range(at_once))

    for number in range(8):
        callers.leave(number)
        until(lambda: len(callers.order) == min(8, at_once + number + 1))  # noqa: B023 - at once

    assert callers.order == list(range(8))
    assert callers.most == at_once


def test_who_waits_too_long_goes_on_without_a_turn_and_takes_none_along(
    threads: ThreadPoolExecutor,
) -> None:
    turns = Turns(1, patience=0.01)
    with turns.taken(), turns.taken(), turns.taken():
        assert turns.waiting == 0

    # So impatient that many a turn comes to who is about to give up.
    hurried = Turns(1, patience=0.0002)

    def read() -> None:
        for _ in range(500):
            with hurried.taken():
                pass

    for future in [threads.submit(read) for _ in range(8)]:
        future.result(LONG)

    for used in (turns, hurried):
        used.patience = LONG
        callers = Callers(used, threads)
        callers.come()
        callers.come()
        assert callers.order == [0]
        callers.leave(0)
        callers.leave(1)
        assert callers.most == 1


def test_an_error_gives_the_turn_back() -> None:
    turns = Turns(1, patience=LONG)

    with pytest.raises(ZeroDivisionError), turns.taken():
        _ = 1 / 0

    with turns.taken():
        assert turns.waiting == 0


@pytest.fixture
def only_turn(settings: Settings) -> Iterator[Turns]:
    settings.READS_AT_ONCE = 1
    reads.cache_clear()
    turns = reads()
    assert turns is not None
    turns.patience = LONG
    yield turns
    reads.cache_clear()


@pytest.mark.parametrize("kind", ["retrieve", "prompt", "search"])
def test_reads_wait_for_their_turn_and_writes_do_not(
    kind: str,
    viewer: Viewer,
    kyra: Agent,
    tools: Tools,
    only_turn: Turns,
    threads: ThreadPoolExecutor,
) -> None:
    now, question = timezone.now(), Question("Which port does Redis listen on?")
    has_turn = threading.Event()

    def hold() -> None:
        with in_turn():
            has_turn.set()
            until(lambda: only_turn.waiting == 1)

    holder = threads.submit(hold)
    assert has_turn.wait(LONG)
    stated = StatedMemory(content="Redis listens on 6379.")
    remember(viewer=viewer, stated=[stated], tools=tools, now=now)
    assert not holder.done()

    if kind == "retrieve":
        retrieve(
            viewer=viewer,
            question=question,
            weights=Weights(),
            token_budget=500,
            limit=None,
            tools=tools,
            now=now,
        )
    elif kind == "prompt":
        build_prompt(
            viewer=viewer,
            agent=kyra,
            question=question,
            conversation=None,
            weights=Weights(),
            token_budget=500,
            tools=tools,
            counter=ESTIMATE,
            now=now,
        )
    else:
        search(viewer=viewer, question=question, limit=5, tools=tools, now=now)

    # It ends only when a read has waited.
    holder.result(LONG)


def test_all_read_at_once_where_nothing_is_set(settings: Settings) -> None:
    settings.READS_AT_ONCE = 0
    reads.cache_clear()
    try:
        assert reads() is None
        with in_turn(), in_turn():
            pass
    finally:
        reads.cache_clear()
