"""Which memories are among the best of the same answers, counted in Redis for two months.

Only consolidations read it, to look for links: what is lost is a link that is found later.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from itertools import combinations
from uuid import UUID

from django.conf import settings
from django_redis import get_redis_connection
from redis.exceptions import RedisError

_BEST = 4
_MOST_PAIRS = 10_000
_MOST_READ = 2_000
# Fewer may be chance.
FEWEST = 3
_KEPT = timedelta(days=62)
_DAY = timedelta(days=1)


def note_together(fields: Mapping[bytes, bytes]) -> None:
    """Count the pairs among the first four memories of each answer, as the reads noted them.

    A name is team, second and the ids, best first. Never fails a flush.
    """
    pairs: dict[str, Counter[str]] = {}
    for name, count in fields.items():
        team, second, ids, *kind = name.decode().split(":")
        if kind or ids in ("n", "t", "c", "i"):
            continue  # what an answer used, or no longer whole answers
        month = datetime.fromtimestamp(int(second), UTC)
        counted = pairs.setdefault(_key(UUID(team), month), Counter())
        for pair in combinations(sorted(ids.split(",")[:_BEST]), 2):
            counted[":".join(pair)] += int(count)
    try:
        pipe = get_redis_connection("default").pipeline(transaction=False)
        for key, counted in pairs.items():
            for pair_name, times in counted.items():
                pipe.zincrby(key, times, pair_name)
            pipe.zremrangebyrank(key, 0, -_MOST_PAIRS - 1)
            pipe.expire(key, _KEPT)
        pipe.execute()
    except RedisError:
        return


def told_together(*, team_id: UUID, now: datetime) -> Mapping[frozenset[UUID], int]:
    """How often the pairs were among the best of an answer, this month and the one before.

    The 2,000 most frequent ones of each month; nothing with Redis away.
    """
    counts: Counter[frozenset[UUID]] = Counter()
    client = get_redis_connection("default")
    try:
        for month in dict.fromkeys(_key(team_id, at) for at in (now, now.replace(day=1) - _DAY)):
            rows = client.zrevrangebyscore(
                month, "+inf", 1, start=0, num=_MOST_READ, withscores=True
            )
            for name, times in rows:
                counts[_pair(name.decode().split(":"))] += int(times)
    except RedisError:
        return {}
    return {pair: times for pair, times in counts.items() if times >= FEWEST}


def _pair(ids: Iterable[str]) -> frozenset[UUID]:
    return frozenset(map(UUID, ids))


def _key(team_id: UUID, at: datetime) -> str:
    return f"{settings.REDIS_PREFIX}:together:{team_id}:{at:%Y-%m}"
