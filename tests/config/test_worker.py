"""A real worker: what it does when Redis hangs, and how others know that it works."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
import redis
from celery import Celery
from django.conf import settings
from rest_framework.test import APIClient

from config import embedded
from config.metrics import AT_WORK, note_at_work
from tests.support.piped_tasks import READ_PIPE
from tests.support.waiting import until

QUEUE = f"{settings.REDIS_PREFIX}:{settings.CELERY_TASK_DEFAULT_QUEUE}"


@dataclass(frozen=True)
class Shop:
    """A worker with a Redis of its own."""

    home: Path
    log: Path
    client: redis.Redis
    sender: Celery
    worker: int

    def give(self, pipe: Path, *, time_limit: int | None = None) -> None:
        """Queue the task that reads this pipe, which is made."""
        os.mkfifo(pipe)
        self.sender.send_task(READ_PIPE, [str(pipe)], time_limit=time_limit)


def opened_by_the_task(pipe: Path) -> int:
    """The pipe to write to, once the task has begun to read it."""
    opened: list[int] = []

    def is_read() -> bool:
        with suppress(OSError):  # nobody reads it yet
            opened.append(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))
        return bool(opened)

    until(is_read)
    return opened[0]


@pytest.fixture(scope="module")
def shop() -> Iterator[Shop]:
    """The project's worker, with one task of these tests."""
    with tempfile.TemporaryDirectory(prefix="palimpsest-test-") as folder:
        home, log = Path(folder) / "home", Path(folder) / "worker.log"
        socket = embedded.start_redis(home)
        sender = Celery(broker=f"redis+socket://{socket}", set_as_current=False)
        sender.conf.task_default_queue = settings.CELERY_TASK_DEFAULT_QUEUE
        sender.conf.broker_transport_options = settings.CELERY_BROKER_TRANSPORT_OPTIONS
        # Or the worker's own words to others may be what waits for Redis, in place of the task's.
        alone = ("--without-heartbeat", "--without-gossip", "--without-mingle")
        celery = ("-m", "celery", "-A", "config", "worker", "--concurrency", "1", *alone)
        with log.open("wb") as output:
            process = subprocess.Popen(
                [sys.executable, *celery, "-I", "tests.support.piped_tasks"],
                cwd=embedded.PROJECT_ROOT,
                env={**os.environ, "REDIS_URL": f"unix://{socket}"},
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        try:
            yield Shop(home, log, redis.Redis(unix_socket_path=str(socket)), sender, process.pid)
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            embedded.stop_redis(home)


def test_a_worker_goes_on_after_a_redis_that_hung_as_a_task_ended(
    shop: Shop, tmp_path: Path
) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    shop.give(first)
    writing = opened_by_the_task(first)
    server = embedded.redis_pid(shop.home)
    assert server is not None
    os.kill(server, signal.SIGSTOP)
    try:
        os.close(writing)
        # Longer than the time-out of those who send tasks.
        time.sleep(8)
    finally:
        os.kill(server, signal.SIGCONT)
    shop.give(second)

    os.close(opened_by_the_task(second))
    until(lambda: not shop.client.llen(QUEUE))


def test_a_worker_whose_task_hangs_is_replaced(shop: Shop, tmp_path: Path) -> None:
    hung, next_one = tmp_path / "hung", tmp_path / "next"
    # The signal that would end its waiting is never sent: only its end by force helps.
    shop.give(hung, time_limit=2)
    writing = opened_by_the_task(hung)
    shop.give(next_one)

    os.close(opened_by_the_task(next_one))

    os.close(writing)
    assert "Hard time limit" in shop.log.read_text(errors="replace")


def test_a_worker_leaves_word_of_its_tasks(shop: Shop, tmp_path: Path) -> None:
    shop.client.delete(AT_WORK)
    shop.give(tmp_path / "pipe")
    writing = opened_by_the_task(tmp_path / "pipe")
    while_it_lasts = shop.client.ttl(AT_WORK)
    os.close(writing)

    assert while_it_lasts > settings.CELERY_TASK_TIME_LIMIT - 60
    until(lambda: shop.client.ttl(AT_WORK) <= 60)
    assert shop.client.exists(AT_WORK)


@pytest.mark.parametrize("is_busy", [True, False])
def test_readiness_tells_of_a_background_that_works(db: None, is_busy: bool) -> None:
    before = APIClient().get("/readyz")
    note_at_work(is_busy=is_busy)
    after = APIClient().get("/readyz")

    assert (before.status_code, before.json()["background"]) == (200, "away")
    assert (after.status_code, after.json()["background"]) == (200, "ok")
