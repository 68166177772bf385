"""What a worker does beside writers, in a thread: the statistics of tables, vectors into graphs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event, Thread
from typing import cast

from django.conf import settings
from django.db import connection

from benchmarks import processor
from memory.services.indexing.statistics import renew_outdated_statistics
from memory.services.indexing.vector_graphs import extend_vector_graphs

_TASKS: dict[str, Callable[[], object]] = {
    "renew-statistics": renew_outdated_statistics,
    "extend-graphs": lambda: extend_vector_graphs(seconds=settings.CELERY_TASK_TIME_LIMIT / 4),
}


@dataclass(slots=True)
class Worker:
    """The worker's session of the database, so that its processor time can be told."""

    sessions: list[int] = field(default_factory=list)

    def seconds(self) -> float:
        """Processor seconds of its session so far."""
        return processor.of_sessions(self.sessions)


@contextmanager
def beside_a_worker() -> Iterator[Worker]:
    """Run the worker's tasks as often as it does, until the block ends."""
    worker, stop = Worker(), Event()
    thread = Thread(target=_work, args=(worker, stop), daemon=True)
    thread.start()
    try:
        yield worker
    finally:
        stop.set()
        thread.join()


def _work(worker: Worker, stop: Event) -> None:
    every = {name: cast(float, settings.CELERY_BEAT_SCHEDULE[name]["schedule"]) for name in _TASKS}
    due = {name: time.monotonic() + seconds for name, seconds in every.items()}
    try:
        worker.sessions.append(processor.session())
        while not stop.wait(max(0.0, min(due.values()) - time.monotonic())):
            for name, run in _TASKS.items():
                if due[name] <= time.monotonic():
                    run()
                    # What came due meanwhile is done once, at once, as by a queue.
                    due[name] = max(due[name] + every[name], time.monotonic())
    finally:
        connection.close()
