"""What extraction took and cost for a message, by model: counted in Redis for all processes."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.conf import settings
from django.db import transaction
from django_redis import get_redis_connection

from memory.domain.types import PassWork
from routing.clients.quick_redis import quick_redis

# Upper bounds of the histograms' buckets, for one message in one pass.
SECONDS = (0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
COST_USD = (0.00001, 0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 1.0)
_BOUNDS = {"seconds": SECONDS, "cost": COST_USD}
_SUM = "sum"


@dataclass(frozen=True, slots=True)
class Distribution:
    """How many messages were at most at each bound (the last one is "+Inf"), and their sum."""

    buckets: tuple[tuple[str, int], ...]
    total: float


def count_work(work: Iterable[PassWork]) -> None:
    """Count who read how many messages once the transaction commits; never fails or undoes it.

    A message counts once for each pass, with its share of the stretch it was read in, under the
    model that was asked, else under who did the work without one.
    """
    rows = [each for each in work if each.messages]

    def count() -> None:
        pipe = quick_redis().pipeline()
        for each in rows:
            model = each.asked or each.extractor
            for kind, whole in (("seconds", each.seconds), ("cost", float(each.cost_usd))):
                place = bisect_left(_BOUNDS[kind], whole / each.messages)
                pipe.hincrby(_key(kind), f"{place}|{model}", each.messages)
                pipe.hincrbyfloat(_key(kind), f"{_SUM}|{model}", whole)
        quick_redis().ask(lambda _: pipe.execute())

    if rows:
        transaction.on_commit(count)


def work_counts(kind: str) -> Mapping[str, Distribution]:
    """By model the distribution of "seconds" or "cost"; raises RedisError when Redis is away."""
    kept: dict[str, dict[str, float]] = {}
    for name, value in get_redis_connection("default").hgetall(_key(kind)).items():
        place, _, model = name.decode().partition("|")
        kept.setdefault(model, {})[place] = float(value)
    return {model: _distribution(_BOUNDS[kind], places) for model, places in kept.items()}


def _distribution(bounds: tuple[float, ...], places: Mapping[str, float]) -> Distribution:
    buckets, so_far = [], 0
    for place, bound in enumerate((*map(str, bounds), "+Inf")):
        so_far += int(places.get(str(place), 0))
        buckets.append((bound, so_far))
    return Distribution(tuple(buckets), places.get(_SUM, 0.0))


def _key(kind: str) -> str:
    return f"{settings.REDIS_PREFIX}:extraction_{kind}"
