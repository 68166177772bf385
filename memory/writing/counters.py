"""Counters in Redis for /metrics, shared by all processes; losing one never fails a write."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from itertools import accumulate

from django.conf import settings
from django.db import transaction
from django_redis import get_redis_connection

from memory.domain.types import PassWork
from memory.writing.drafts import Outcome, WriteResult
from routing.clients.quick_redis import quick_redis

WRITTEN = f"{settings.REDIS_PREFIX}:written"
# Upper bounds of the histograms' buckets, for one message in one pass.
_BOUNDS = {
    "seconds": (0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0),
    "cost": (0.00001, 0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 1.0),
}
_SUM = "sum"


def count_written(results: Iterable[WriteResult]) -> None:
    """Counts the outcomes of a write once its transaction commits."""
    _add_after_commit(WRITTEN, Counter(result.outcome.value for result in results))


def written_counts() -> dict[str, int]:
    """Returns the writes by outcome since Redis was empty; raises RedisError when away."""
    counts = _stored(WRITTEN)
    return {outcome.value: int(counts.get(outcome.value, 0)) for outcome in Outcome}


def count_work(work: Iterable[PassWork]) -> None:
    """Counts the messages that each model read, once the transaction commits.

    A message counts once for each pass, with its share of the window it was read in, under the
    model that was asked, or the extractor that worked without one.
    """
    counts: dict[str, defaultdict[str, float]] = {kind: defaultdict(float) for kind in _BOUNDS}
    for each in work:
        if not each.messages:
            continue
        model = each.asked or each.extractor
        for kind, whole in (("seconds", each.seconds), ("cost", float(each.cost_usd))):
            place = bisect_left(_BOUNDS[kind], whole / each.messages)
            counts[kind][f"{place}|{model}"] += each.messages
            counts[kind][f"{_SUM}|{model}"] += whole
    for kind, by_bucket in counts.items():
        _add_after_commit(_key(kind), by_bucket)


def work_counts(kind: str) -> dict[str, tuple[list[tuple[str, int]], float]]:
    """Returns by model the histogram of "seconds" or "cost": messages up to each bound, and a sum.

    The last bound is "+Inf". Raises RedisError when Redis is away.
    """
    by_model: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for name, value in _stored(_key(kind)).items():
        place, _, model = name.partition("|")
        by_model[model][place] = value
    bounds = (*map(str, _BOUNDS[kind]), "+Inf")
    found = {}
    for model, places in by_model.items():
        counts = accumulate(int(places.get(str(place), 0)) for place in range(len(bounds)))
        found[model] = list(zip(bounds, counts, strict=True)), places.get(_SUM, 0.0)
    return found


def _key(kind: str) -> str:
    return f"{settings.REDIS_PREFIX}:extraction_{kind}"


def _stored(key: str) -> dict[str, float]:
    rows = get_redis_connection("default").hgetall(key)
    return {name.decode(): float(number) for name, number in rows.items()}


def _add_after_commit(key: str, counts: Mapping[str, float]) -> None:
    def add() -> None:
        pipe = quick_redis().pipeline()
        for name, number in counts.items():
            pipe.hincrbyfloat(key, name, number)
        quick_redis().ask(lambda _: pipe.execute())

    if counts:
        transaction.on_commit(add)
