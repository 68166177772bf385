"""A task for a worker under test: it lasts as long as somebody writes to a pipe."""

from __future__ import annotations

from pathlib import Path

from celery import shared_task

READ_PIPE = "tests.read_pipe"


@shared_task(name=READ_PIPE)
def read_pipe(path: str) -> None:
    """Read the named pipe to its end."""
    Path(path).read_bytes()
