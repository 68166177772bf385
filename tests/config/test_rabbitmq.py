"""Workers on any number of machines with RabbitMQ as the broker: a real one, Debian's."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil  # type: ignore[import-untyped]
import pytest
import redis

from config import embedded
from tests.support.installation import START_SECONDS, Installation
from tests.support.piped_tasks import READ_PIPE
from tests.support.rabbitmq import RabbitMQ, rabbitmq
from tests.support.waiting import until

PIPES = "pipes"
SEND = f"""
import sys
from celery import current_app
import django
django.setup()
current_app.send_task("{READ_PIPE}", [sys.argv[1]], queue="{PIPES}")
"""


@pytest.fixture(scope="module")
def broker() -> Iterator[RabbitMQ]:
    with rabbitmq() as running:
        yield running


@pytest.fixture(scope="module")
def installation(broker: RabbitMQ) -> Iterator[Installation]:
    """Everything that `make run` starts, with RabbitMQ in the place of Redis as broker."""
    with tempfile.TemporaryDirectory(prefix="palimpsest-test-") as folder:
        installation = Installation(Path(folder) / "home")
        installation.environment["BROKER_URL"] = broker.url
        try:
            installation.start()
            yield installation
        finally:
            installation.kill_everything()


def send(installation: Installation, pipe: Path) -> subprocess.CompletedProcess[str]:
    """Queues the task that reads this pipe, with the project's settings."""
    return subprocess.run(
        [sys.executable, "-c", SEND, str(pipe)],
        cwd=embedded.PROJECT_ROOT,
        env={**installation.environment, "DJANGO_SETTINGS_MODULE": "config.settings"},
        capture_output=True,
        text=True,
    )


def worker(installation: Installation, name: str) -> subprocess.Popen[bytes]:
    """Starts one more worker, for the tasks of these tests, as on another machine."""
    tasks = ("-I", "tests.support.piped_tasks", "-Q", PIPES, "-n", f"{name}@elsewhere")
    return subprocess.Popen(
        [sys.executable, "-m", "celery", "-A", "config", "worker", "--concurrency", "1", *tasks],
        cwd=embedded.PROJECT_ROOT,
        env=installation.environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def reader_of(pipe: Path, workers: list[subprocess.Popen[bytes]]) -> int:
    """Waits until one of the workers has the pipe open, and returns its process id."""
    readers: list[int] = []

    def is_read() -> bool:
        readers.extend(each.pid for each in workers if reads(each.pid, pipe))
        return bool(readers)

    until(is_read, seconds=START_SECONDS)
    return readers[0]


def reads(worker: int, pipe: Path) -> bool:
    """Returns whether a process of the worker has the pipe open."""
    return any(
        os.path.realpath(file) == str(pipe)
        for child in psutil.Process(worker).children()
        for file in Path(f"/proc/{child.pid}/fd").iterdir()
    )


def test_work_goes_through_rabbitmq_and_the_installation_says_so(
    installation: Installation, broker: RabbitMQ
) -> None:
    path = installation.converse()
    installation.remember(path, "I live in Lisbon.")

    assert installation.extracts(path) == "done"

    assert '"background": "ok"' in installation.ask("/readyz")[1]
    doctor = installation.output_of("doctor")
    assert f"The broker of tasks {broker.url.replace('guest@', '**@')} answers" in doctor
    assert "A worker is at work" in doctor
    socket = embedded.redis_socket(installation.home)
    kept = redis.Redis(unix_socket_path=str(socket), decode_responses=True)
    names = [str(name) for name in kept.scan_iter()]
    assert names
    assert not [name for name in names if "_kombu" in name or name.endswith(":palimpsest")]


def test_another_worker_does_the_task_of_one_that_died(
    installation: Installation, tmp_path: Path
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    # Open for reading and writing, so that no reader meets the end of the file before it is seen.
    opened = os.open(pipe, os.O_RDWR)
    workers = [worker(installation, "one"), worker(installation, "two")]
    try:
        assert send(installation, pipe).returncode == 0
        first = reader_of(pipe, workers)
        os.killpg(first, signal.SIGKILL)

        second = reader_of(pipe, [each for each in workers if each.pid != first])

        assert second != first
    finally:
        os.close(opened)
        for each in workers:
            with suppress(ProcessLookupError):
                os.killpg(each.pid, signal.SIGKILL)
            each.wait()


def test_a_broker_that_hangs_holds_nobody_up_who_sends(
    installation: Installation, broker: RabbitMQ, tmp_path: Path
) -> None:
    path = installation.converse()
    with broker.hanging():
        sent = send(installation, tmp_path / "pipe")
        installation.remember(path, "I like green tea.")
        status, body = installation.ask(path.replace("/messages", "/extract"), {"wait": False})

    assert sent.returncode != 0
    assert "imed out" in sent.stderr or "Resource temporarily" in sent.stderr, sent.stderr
    assert status == 202, body
    # What could not be sent is found by the sweep, once the scheduler is connected again.
    assert installation.extracts(path, seconds=240) == "done"
