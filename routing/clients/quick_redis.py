"""Redis for work that can do without it: short timeouts, and a pause after a failure."""

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

# Redis answers within a millisecond; after this long the caller goes on without it.
PATIENCE_SECONDS = 0.2
PAUSE_SECONDS = 2.0

_T = TypeVar("_T")


class QuickRedis:
    """A Redis client with short timeouts (`patience`), and a `pause` after each failure."""

    def __init__(
        self,
        url: str,
        *,
        patience: float = PATIENCE_SECONDS,
        pause: float = PAUSE_SECONDS,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        # One immediate retry: a restarted server has closed the old connections.
        again = Retry(NoBackoff(), 1, supported_errors=(redis.ConnectionError,))
        self._client: redis.Redis = redis.Redis.from_url(
            url, socket_timeout=patience, socket_connect_timeout=patience, retry=again
        )
        self._pause = pause
        self._monotonic = monotonic
        self._away_until = float("-inf")

    def pipeline(self) -> Pipeline:
        """A pipeline whose commands `ask` may send; creating it sends nothing."""
        return self._client.pipeline(transaction=False)

    def ask(self, command: Callable[[redis.Redis], _T]) -> _T | None:
        """The result of the command, or None while Redis is down."""
        if self._monotonic() < self._away_until:
            return None
        try:
            return command(self._client)
        except redis.RedisError as error:
            self._away_until = self._monotonic() + self._pause
            logger.warning("Redis is down (%s); going on without it.", type(error).__name__)
            return None


@cache
def quick_redis() -> QuickRedis:
    """The client of the configured Redis, one per process."""
    return QuickRedis(settings.REDIS_URL)
