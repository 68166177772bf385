"""The Celery application: workers run extraction, beat sweeps what the queue lost."""

from __future__ import annotations

import os

from celery import Celery
from celery.signals import task_postrun, task_prerun, worker_process_init, worker_ready

from .allocating import give_memory_back
from .broker import use_transport
from .collecting import spare_the_collector

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

use_transport()
app = Celery("palimpsest")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@worker_process_init.connect
def serve_long(**kwargs: object) -> None:
    """Let each process of the pool serve as a web process does."""
    del kwargs
    give_memory_back()
    spare_the_collector()


@worker_ready.connect
def log_embedding_status(**kwargs: object) -> None:
    """Say once a worker what the operator must know of the data."""
    del kwargs
    from memory.clients.embedder_choice import configured_spec
    from memory.services.indexing import embedding_status

    embedding_status.log_embedding_status(wanted=configured_spec().name)


@task_prerun.connect
def leave_word_of_a_task(**kwargs: object) -> None:
    """Let /readyz know that somebody works."""
    del kwargs
    from .at_work import note_begun

    note_begun()


@task_postrun.connect
def leave_word_of_its_end(**kwargs: object) -> None:
    """Let /readyz know that the worker is free again."""
    del kwargs
    from .at_work import note_done

    note_done()
