"""Cache of a model's judgements, so that no pair is paid for twice."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Mapping, Sequence

from cachetools import LRUCache

from memory.domain.types import Judgement, Statement, Verdict
from routing.clients.quick_redis import QuickRedis

KEPT_SECONDS = 14 * 24 * 3600
KEPT_IN_PROCESS = 10_000


class JudgementCache:
    """Judgements by the contents of their pair, in Redis and, for the latest, in this process.

    `prefix` begins every key and must name the judge. Without Redis the process goes on with what
    it holds itself; thread-safe. A key holds no team: it is made of both contents in full, so only
    who may read both finds what was said of them.
    """

    def __init__(self, *, store: QuickRedis, prefix: str, size: int = KEPT_IN_PROCESS) -> None:
        self._store = store
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
            names = [self._prefix + key for key in missing]
            values = self._store.ask(lambda client: client.mget(names)) or []
            self._hold({key: _read(value) for key, value in zip(missing, values, strict=False)})
        return {key for key in keys if self.get(key) is not None}

    def keep(self, judgements: Mapping[str, Judgement]) -> None:
        """Remember judgements here and, when it answers, in Redis for two weeks."""
        self._hold(judgements)
        if judgements:
            pipe = self._store.pipeline()
            for key, each in judgements.items():
                told = json.dumps([each.verdict.value, each.reason, each.confidence, each.judge])
                pipe.set(self._prefix + key, told, ex=KEPT_SECONDS)
            self._store.ask(lambda _: pipe.execute())

    def _hold(self, judgements: Mapping[str, Judgement | None]) -> None:
        with self._lock:
            self._held.update({key: each for key, each in judgements.items() if each is not None})


def pair_key(*, existing: Statement, new: Statement) -> str:
    """SHA-256 of both contents and subjects in their order, in hexadecimal."""
    both = json.dumps([(each.content, each.subject) for each in (existing, new)])
    return hashlib.sha256(both.encode()).hexdigest()


def _read(value: bytes | str | None) -> Judgement | None:
    try:
        verdict, reason, confidence, judge = json.loads(value or b"")
        return Judgement(Verdict(verdict), str(reason), float(confidence), str(judge))
    except (ValueError, TypeError):
        return None
