"""A Redis that is away costs the first reader a little and the others nothing."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from config import embedded
from routing.clients.quick_redis import QuickRedis


class SilentServer:
    """Takes every connection and never answers."""

    def __init__(self) -> None:
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        self.connections: list[socket.socket] = []
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    def _accept(self) -> None:
        while True:
            try:
                self.connections.append(self._listening.accept()[0])
            except OSError:
                return

    def close(self) -> None:
        """Hang up."""
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self._thread.join()
        for each in self.connections:
            each.close()


@pytest.fixture
def silent() -> Iterator[SilentServer]:
    """A server that is there and of no use."""
    server = SilentServer()
    yield server
    server.close()


def test_while_it_is_away_nobody_asks_again_until_the_pause_is_over(silent: SilentServer) -> None:
    clock = [0.0]
    redis = QuickRedis(
        f"redis://127.0.0.1:{silent.port}", patience=0.05, pause=2.0, monotonic=lambda: clock[0]
    )
    answers = [redis.ask(lambda client: client.get("name")) for _ in range(20)]
    asked = len(silent.connections)
    clock[0] = 2.5
    later = redis.ask(lambda client: client.get("name"))

    assert (answers, later) == ([None] * 20, None)
    assert asked == 1
    assert len(silent.connections) == 2


def test_it_is_asked_again_once_it_is_back(tmp_path: Path) -> None:
    clock = [0.0]
    redis = QuickRedis(
        f"unix://{embedded.redis_socket(tmp_path)}", pause=2.0, monotonic=lambda: clock[0]
    )
    away = redis.ask(lambda client: client.set("name", "Sarah"))
    embedded.start_redis(tmp_path)
    try:
        within_the_pause = redis.ask(lambda client: client.set("name", "Sarah"))
        clock[0] = 2.5
        kept = redis.ask(lambda client: client.set("name", "Sarah"))
        found = redis.ask(lambda client: client.get("name"))
    finally:
        embedded.stop_redis(tmp_path)

    assert (away, within_the_pause, kept, found) == (None, None, True, b"Sarah")


def test_a_server_that_was_started_anew_is_found_at_once(tmp_path: Path) -> None:
    redis = QuickRedis(f"unix://{embedded.redis_socket(tmp_path)}")
    embedded.start_redis(tmp_path)
    try:
        redis.ask(lambda client: client.set("name", "Sarah"))
        embedded.stop_redis(tmp_path)
        embedded.start_redis(tmp_path)
        found = redis.ask(lambda client: client.get("name"))
    finally:
        embedded.stop_redis(tmp_path)

    assert found == b"Sarah"
