"""The Celery application: workers run the tasks, beat repeats the periodic ones."""

from __future__ import annotations

import os
from contextlib import ExitStack
from logging.config import dictConfig
from typing import Any

from celery import Celery, Task
from celery.app.utils import Settings
from celery.signals import (
    before_task_publish,
    celeryd_init,
    setup_logging,
    task_postrun,
    task_prerun,
    worker_process_init,
    worker_process_shutdown,
    worker_ready,
)

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

_REQUEST_ID = "request_id"
# Of the one task that a process does at a time.
_NAMED = ExitStack()

app = Celery("palimpsest")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@celeryd_init.connect
def wait_for_broker(conf: Settings, **_: object) -> None:
    """Let a worker wait for a hanging broker: after a time-out kombu would lose its task."""
    options = dict(conf.broker_transport_options)
    for name in options.keys() & {"socket_timeout", "read_timeout", "write_timeout"}:
        options[name] = None
    conf.broker_transport_options = options


@worker_process_init.connect
def trace_tasks(**_: object) -> None:
    """Trace the tasks of this process, if traces are wanted."""
    from config import telemetry

    telemetry.start("worker")


@worker_process_shutdown.connect
def send_traces(**_: object) -> None:
    """Send the traces that wait."""
    from config import telemetry

    telemetry.stop()


@worker_ready.connect
def log_embedding_status(**_: object) -> None:
    """Log once a worker whether stored vectors and the configured embedder agree."""
    from memory.understanding.embedders import configured_spec
    from memory.writing.indexing import reembedding

    reembedding.log_embedding_status(wanted=configured_spec().name)


@setup_logging.connect
def log_as_django_does(**_: object) -> None:
    """Let workers and beat write the same lines as the web processes."""
    from django.conf import settings

    dictConfig(settings.LOGGING)


@before_task_publish.connect
def send_request_id(headers: dict[str, Any], **_: object) -> None:  # Any: as Celery has it
    """Tell a task which request it is done for."""
    from config.logs import request_id

    headers[_REQUEST_ID] = request_id()


@task_prerun.connect
def note_task_started(task: Task[Any, Any], task_id: str, **_: object) -> None:
    """Keep /readyz informed that a worker is busy, and name task and request in its log lines."""
    from config.logs import working_for
    from config.metrics import note_at_work

    note_at_work(is_busy=True)
    asked_by = task.request.get(_REQUEST_ID) or task_id
    _NAMED.enter_context(working_for(asked_by, task=task.name))


@task_postrun.connect
def note_task_ended(**_: object) -> None:
    """Keep /readyz informed that a worker is alive."""
    from config.metrics import note_at_work

    _NAMED.close()
    note_at_work(is_busy=False)
