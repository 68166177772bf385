"""The Celery application: workers run the tasks, beat repeats the periodic ones."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from celery import Celery
from celery.signals import task_postrun, task_prerun, worker_ready
from kombu.transport import TRANSPORT_ALIASES, redis, virtual


class _Receipts(redis.QoS):
    """The tasks that a worker has received and not acknowledged yet.

    A worker with as many of them as it may have asks for no more. When Redis times out during an
    acknowledgement, kombu logs it and keeps the task on this list for ever, so the worker would
    starve. Here a finished task always leaves the list: Redis delivers it again after the
    visibility timeout, and tasks may run twice.
    """

    def ack(self, delivery_tag: str) -> None:
        """Acknowledge a task; raises what Redis raises."""
        with self._let_go(delivery_tag):
            super().ack(delivery_tag)

    def reject(self, delivery_tag: str, requeue: bool = False) -> None:
        """Reject a task, with `requeue` for another worker; raises what Redis raises."""
        with self._let_go(delivery_tag):
            super().reject(delivery_tag, requeue=requeue)

    @contextmanager
    def _let_go(self, delivery_tag: str) -> Iterator[None]:
        try:
            yield
        except Exception:
            virtual.QoS.ack(self, delivery_tag)
            raise


class _Channel(redis.Channel):
    QoS = _Receipts


class Transport(redis.Transport):
    """kombu's Redis transport, whose workers go on when Redis fails to take an acknowledgement."""

    Channel = _Channel


os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

for scheme in ("redis", "rediss"):
    TRANSPORT_ALIASES[scheme] = f"{Transport.__module__}:{Transport.__name__}"
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
