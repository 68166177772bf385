"""The Celery application: workers run the tasks, beat repeats the periodic ones."""

from __future__ import annotations

import os

from celery import Celery
from celery.signals import task_postrun, task_prerun, worker_ready

from .broker import use_transport

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

use_transport()
app = Celery("palimpsest")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@worker_ready.connect
def log_embedding_status(**kwargs: object) -> None:
    """Log once a worker whether stored vectors and the configured embedder agree."""
    del kwargs
    from memory.clients.embedder_choice import configured_spec
    from memory.services.indexing import embedding_status

    embedding_status.log_embedding_status(wanted=configured_spec().name)


@task_prerun.connect
def note_task_started(**kwargs: object) -> None:
    """Keep /readyz informed that a worker is busy."""
    del kwargs
    from config.worker_heartbeat import note_begun

    note_begun()


@task_postrun.connect
def note_task_ended(**kwargs: object) -> None:
    """Keep /readyz informed that a worker is alive."""
    del kwargs
    from config.worker_heartbeat import note_done

    note_done()
