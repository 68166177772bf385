"""Redis as the tasks' queue: a worker goes on after an acknowledgement that Redis did not take."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from kombu.transport import TRANSPORT_ALIASES, redis, virtual


class _Receipts(redis.QoS):
    """The tasks that a worker was handed and has not acknowledged yet.

    With as many as it may have at a time it asks for no more. When Redis hangs as one of them is
    acknowledged, kombu logs the time-out and keeps the task among them, nobody sends it again, and
    the worker would ask for nothing for ever. Here a task that is done is let go whatever Redis
    says: Redis hands it out once more when the visibility_timeout is over, and a task may run
    twice.
    """

    def ack(self, delivery_tag: str) -> None:
        """Acknowledge a task; raises what Redis raises."""
        with self._let_go(delivery_tag):
            super().ack(delivery_tag)

    def reject(self, delivery_tag: str, requeue: bool = False) -> None:
        """Give a task up, with `requeue` for others to do; raises what Redis raises."""
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
    """kombu's transport over Redis, with our receipts."""

    Channel = _Channel


def use_transport() -> None:
    """Let what connects to a broker by a Redis URL from now on use it, in this process."""
    for scheme in ("redis", "rediss"):
        TRANSPORT_ALIASES[scheme] = f"{Transport.__module__}:{Transport.__name__}"
