"""Redis for what can go on without it: asked with little patience, left alone while away."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from functools import cache
from typing import TypeVar

import redis
from django.conf import settings
from redis.backoff import NoBackoff
from redis.client import Pipeline
from redis.retry import Retry

logger = logging.getLogger(__name__)

# Redis answers within a millisecond; who waits longer had better do without it.
PATIENCE_SECONDS = 0.2
PAUSE_SECONDS = 2.0

_T = TypeVar("_T")


class QuickRedis:
    """A Redis that may be away: one caller finds out, the others go on at once; thread-safe.

    `patience` is how long a connection and an answer may take, `pause` how long nobody asks again
    after a failure, both in seconds.
    """

    def __init__(
        self,
        url: str,
        *,
        patience: float = PATIENCE_SECONDS,
        pause: float = PAUSE_SECONDS,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        # One more attempt at once: a server that was started anew has closed the old connections.
        again = Retry(NoBackoff(), 1, supported_errors=(redis.ConnectionError,))
        self._client: redis.Redis = redis.Redis.from_url(
            url, socket_timeout=patience, socket_connect_timeout=patience, retry=again
        )
        self._pause = pause
        self._monotonic = monotonic
        self._away_until = float("-inf")

    def pipeline(self) -> Pipeline:
        """Commands that `ask` may send together; making it asks for nothing."""
        return self._client.pipeline(transaction=False)

    def ask(self, command: Callable[[redis.Redis], _T]) -> _T | None:
        """What the command answers, or None while Redis is away."""
        if self._monotonic() < self._away_until:
            return None
        try:
            return command(self._client)
        except redis.RedisError as error:
            self._away_until = self._monotonic() + self._pause
            logger.warning("Redis is away (%s); what can goes on without it.", type(error).__name__)
            return None


@cache
def quick_redis() -> QuickRedis:
    """The Redis of the settings, one a process."""
    return QuickRedis(settings.REDIS_URL)
