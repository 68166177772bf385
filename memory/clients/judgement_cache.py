"""Cache of a model's judgements, so that no pair is paid for twice."""

from __future__ import annotations

import hashlib
import json
import logging
import threading
from collections.abc import Callable, Mapping, Sequence

import redis
from cachetools import LRUCache

from memory.domain.types import Judgement, Statement, Verdict

logger = logging.getLogger(__name__)

KEPT_SECONDS = 14 * 24 * 3600
KEPT_IN_PROCESS = 10_000


class JudgementCache:
    """Judgements by the contents of their pair, in Redis and, for the latest, in this process.

    `connect` gives the Redis client, `prefix` begins every key and must name the judge. Without
    Redis the process goes on with what it holds itself; thread-safe. A key holds no team: it is
    made of both contents in full, so only who may read both finds what was said of them.
    """

    def __init__(
        self,
        *,
        connect: Callable[[], redis.Redis],
        prefix: str,
        size: int = KEPT_IN_PROCESS,
    ) -> None:
        self._connect = connect
        self._prefix = prefix
        self._held: LRUCache[str, Judgement] = LRUCache(size)
        self._lock = threading.Lock()

    def get(self, key: str) -> Judgement | None:
        """The judgement that this process holds; sends nothing to Redis."""
        with self._lock:
            return self._held.get(key)

    def load(self, keys: Sequence[str]) -> set[str]:
        """Load the judgements of `keys` from Redis; returns the keys held afterwards."""
        missing = [key for key in keys if self.get(key) is None]
        if missing:
            try:
                values = self._connect().mget([self._prefix + key for key in missing])
            except redis.RedisError as error:
                logger.warning("Redis holds no judgements: %s", type(error).__name__)
                values = []
            for key, value in zip(missing, values, strict=False):
                judgement = _read(value) if value is not None else None
                if judgement is not None:
                    self._hold(key, judgement)
        return {key for key in keys if self.get(key) is not None}

    def keep(self, judgements: Mapping[str, Judgement]) -> None:
        """Remember judgements here and, when it answers, in Redis for two weeks."""
        for key, judgement in judgements.items():
            self._hold(key, judgement)
        if not judgements:
            return
        try:
            pipe = self._connect().pipeline(transaction=False)
            for key, judgement in judgements.items():
                pipe.set(self._prefix + key, _written(judgement), ex=KEPT_SECONDS)
            pipe.execute()
        except redis.RedisError as error:
            logger.warning("Redis takes no judgements: %s", type(error).__name__)

    def _hold(self, key: str, judgement: Judgement) -> None:
        with self._lock:
            self._held[key] = judgement


def pair_key(*, existing: Statement, new: Statement) -> str:
    """SHA-256 of both contents in their order, in hexadecimal."""
    both = json.dumps([existing.content, new.content])
    return hashlib.sha256(both.encode()).hexdigest()


def _written(judgement: Judgement) -> str:
    return json.dumps([judgement.verdict.value, judgement.reason, judgement.confidence])


def _read(value: bytes | str) -> Judgement | None:
    try:
        verdict, reason, confidence = json.loads(value)
        return Judgement(Verdict(verdict), str(reason), float(confidence))
    except (ValueError, TypeError):
        return None
