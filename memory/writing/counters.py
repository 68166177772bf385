"""Counters in Redis of memories written, by outcome."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from django.conf import settings
from django.db import transaction
from django_redis import get_redis_connection

from memory.writing.drafts import Outcome, WriteResult
from routing.clients.quick_redis import quick_redis

WRITTEN = f"{settings.REDIS_PREFIX}:written"


def count_written(results: Iterable[WriteResult]) -> None:
    """Count what a write did, once its transaction commits; never fails or undoes the write."""
    counts = Counter(result.outcome.value for result in results)

    def count() -> None:
        pipe = quick_redis().pipeline()
        for outcome, number in counts.items():
            pipe.hincrby(WRITTEN, outcome, number)
        quick_redis().ask(lambda _: pipe.execute())

    if counts:
        transaction.on_commit(count)


def written_counts() -> dict[str, int]:
    """How many writes had each outcome, since Redis was empty; raises RedisError when away."""
    kept = get_redis_connection("default").hgetall(WRITTEN)
    found = {name.decode(): int(number) for name, number in kept.items()}
    return {outcome.value: found.get(outcome.value, 0) for outcome in Outcome}
