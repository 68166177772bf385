"""A server's processes share what connects to them, and none waits for another that is stuck."""

from __future__ import annotations

import os
import selectors
import signal
from collections.abc import Iterator

import pytest
from gunicorn.config import Config  # type: ignore[import-untyped]

from config.connections import CONNECTIONS, Connections
from config.web_worker import WebWorker
from tests.support.waiting import until
from tests.support.web_server import Server, web_server

CLIENTS = 8


@pytest.fixture
def server() -> Iterator[Server]:
    """One with long pauses, so that a slow machine behaves like a quick one."""
    with web_server("web_worker.PAUSE_SECONDS = 0.5") as found:
        yield found


def test_a_process_with_fewer_connections_takes_the_next_ones(server: Server) -> None:
    """One is stuck for a while, and the other one holds nobody up: it takes all of them."""
    first, second = server.workers
    os.kill(second, signal.SIGSTOP)
    taken = [server.ask() for _ in range(CLIENTS)]
    assert taken == [first] * CLIENTS

    os.kill(second, signal.SIGCONT)
    until(lambda: server.ask() == second)
    taken = [server.ask() for _ in range(CLIENTS - 2)]

    # One may come while the first process has just waited long enough.
    assert taken.count(second) >= len(taken) - 1


def test_processes_that_have_ended_are_not_waited_for() -> None:
    connections = Connections()
    connections.record(1, 5)
    connections.record(2, 0)
    assert connections.least() == 0

    connections.forget(2)
    assert connections.least() == 5

    connections.forget(1)
    assert connections.least() == 0


def test_a_server_that_stops_leaves_the_rest_to_the_others() -> None:
    CONNECTIONS.record(7, 3)
    worker = WebWorker(7, os.getpid(), [], None, 30, Config(), None)
    worker.method_queue.init()
    worker.poller = selectors.DefaultSelector()
    worker.alive = False

    worker.wait_for_and_dispatch_events(0.0)

    assert CONNECTIONS.least() == 0
