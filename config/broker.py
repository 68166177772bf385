"""Celery's Redis transport, whose workers go on when Redis fails to take an acknowledgement."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

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
    """kombu's Redis transport with the list of tasks above."""

    Channel = _Channel


def use_transport() -> None:
    """Make every later connection of this process to a Redis broker use this transport."""
    for scheme in ("redis", "rediss"):
        TRANSPORT_ALIASES[scheme] = f"{Transport.__module__}:{Transport.__name__}"
