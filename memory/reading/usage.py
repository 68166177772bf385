"""Counts of what was retrieved, gathered in Redis and written in batches, and reports of use."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import combinations
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connection
from django_redis import get_redis_connection
from redis.client import Pipeline
from redis.exceptions import RedisError

from memory.clients.afterwards import afterwards
from memory.domain.audience import Viewer
from memory.domain.types import Work
from memory.models import Memory
from memory.writing.background import retried
from memory.writing.decisions.changes import note_useful
from teams.errors import NotFoundError
from teams.ids import new_id
from teams.tenancy import team_scope

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


NOTED = f"{settings.REDIS_PREFIX}:usage"
TAKEN = f"{NOTED}:taken"

# One field for all memories of an answer, taken apart when it is written down: their number hardly
# shows in what the read waits for. Where nobody writes down for long, each memory gets its own two,
# so that what waits is bounded by the memories there are.
_WHOLE_ANSWERS = 5_000
# So many days of a memory's retrievals are kept, counted back from the last one.
KEPT_DAYS = 60
_DAY_SECONDS = 86_400
_NOTE = """
local kind = ARGV[5]
if redis.call('HLEN', KEYS[1]) < tonumber(ARGV[4]) then
    local field = ARGV[1] .. ':' .. ARGV[2] .. ':' .. ARGV[3]
    if kind ~= 'n' then
        field = field .. ':' .. kind
    end
    redis.call('HINCRBY', KEYS[1], field, 1)
    return
end
for memory in string.gmatch(ARGV[3], '[^,]+') do
    redis.call('HINCRBY', KEYS[1], ARGV[1] .. ':' .. memory .. ':' .. kind, 1)
    if kind == 'n' then
        redis.call('HSET', KEYS[1], ARGV[1] .. ':' .. memory .. ':t', ARGV[2])
    end
end
"""
# What was counted so far becomes a batch with a name; one that is still there comes first.
_TAKE = """
if redis.call('EXISTS', KEYS[2]) == 0 then
    if redis.call('EXISTS', KEYS[1]) == 0 then
        return {}
    end
    redis.call('RENAME', KEYS[1], KEYS[2])
end
redis.call('HSETNX', KEYS[2], 'batch', ARGV[1])
return redis.call('HGETALL', KEYS[2])
"""
_DROP = """
if redis.call('HGET', KEYS[1], 'batch') == ARGV[1] then
    redis.call('DEL', KEYS[1])
end
"""
_WRITE = """
WITH batch AS (
    INSERT INTO audit_writtenbatch (id, team_id, at) VALUES (%(batch)s, %(team)s, now())
    ON CONFLICT DO NOTHING RETURNING id
)
INSERT INTO memory_memoryusage
    (memory_id, team_id, retrieved, cited, ignored, succeeded, failed, last_accessed_at, daily)
SELECT m.id, m.team_id, n.retrieved, n.cited, n.ignored, 0, 0, n.accessed_at, n.daily
FROM unnest(
    %(ids)s::uuid[], %(retrieved)s::bigint[], %(cited)s::bigint[], %(ignored)s::bigint[],
    %(times)s::timestamptz[], %(days)s::jsonb[]
) AS n (memory_id, retrieved, cited, ignored, accessed_at, daily)
JOIN memory_memory m ON m.team_id = %(team)s AND m.id = n.memory_id
WHERE EXISTS (SELECT FROM batch)
ON CONFLICT (team_id, memory_id) DO UPDATE SET
    retrieved = memory_memoryusage.retrieved + EXCLUDED.retrieved,
    cited = memory_memoryusage.cited + EXCLUDED.cited,
    ignored = memory_memoryusage.ignored + EXCLUDED.ignored,
    last_accessed_at = greatest(memory_memoryusage.last_accessed_at, EXCLUDED.last_accessed_at),
    daily = (
        SELECT coalesce(jsonb_object_agg(kept.day, kept.retrieved), '{}')
        FROM (
            SELECT both_of.day, sum(both_of.retrieved::bigint) AS retrieved
            FROM (
                SELECT * FROM jsonb_each_text(memory_memoryusage.daily)
                UNION ALL SELECT * FROM jsonb_each_text(EXCLUDED.daily)
            ) AS both_of (day, retrieved)
            WHERE both_of.day > %(oldest)s
            GROUP BY both_of.day
        ) AS kept
    )
"""
# Longer than a flush may take. The present batch stays whatever its age: it may have waited.
_FORGET = """
DELETE FROM audit_writtenbatch
WHERE team_id = %(team)s AND id <> %(batch)s AND at < now() - interval '1 hour'
"""


def note_retrieved(*, team_id: UUID, memory_ids: Iterable[UUID | str], now: datetime) -> None:
    """Count one retrieval of each memory; never fails a read, nor slows it, with Redis away."""
    if given := _given(team_id, memory_ids, now, "n"):
        # With its text: that Redis has not seen it yet would be known only afterwards.
        afterwards(lambda pipe: pipe.eval(_NOTE, 1, NOTED, *given))


def note_answer(
    *,
    team_id: UUID,
    find: Callable[[], tuple[Iterable[UUID], Iterable[UUID]]],
    now: datetime,
) -> None:
    """Count the memories that an answer cited and ignored, which `find` finds once it is sent."""

    def note(pipe: Pipeline) -> None:
        for kind, ids in zip("ci", find(), strict=True):
            if given := _given(team_id, ids, now, kind):
                pipe.eval(_NOTE, 1, NOTED, *given)

    afterwards(note)


def _given(
    team_id: UUID, memory_ids: Iterable[UUID | str], now: datetime, kind: str
) -> tuple[str | int, ...]:
    """What `_NOTE` takes, nothing where there are no memories."""
    # Without hyphens an id is written in a third of the time.
    ids = ",".join(
        [
            each.replace("-", "") if isinstance(each, str) else f"{each.int:032x}"
            for each in memory_ids
        ]
    )
    return (str(team_id), int(now.timestamp()), ids, _WHOLE_ANSWERS, kind) if ids else ()


def flush_noted_usage() -> None:
    """Write what was counted to the database, one transaction a team, each count once.

    Counts leave Redis after they are written. After a crash in between, or with two flushes at the
    same moment, the batch's name in the database tells that a team's counts stand there already.
    """
    client = get_redis_connection("default")
    taken = client.eval(_TAKE, 2, NOTED, TAKEN, str(new_id()))
    fields = dict(zip(taken[::2], taken[1::2], strict=True))
    if not fields:
        return
    batch = fields.pop(b"batch").decode()
    note_together(fields)
    for team_id, counts in _by_team(fields).items():
        _flush(team_id, UUID(batch), counts)
    client.eval(_DROP, 1, TAKEN, batch)


@dataclass(slots=True)
class Uses:
    """How often a memory was read, when last in seconds of the epoch, and how often on which day.

    And how often it was cited or ignored. Where nobody wrote down for long, all reads count for the
    day of the last one.
    """

    count: int = 0
    last: int = 0
    loose: int = 0
    days: dict[str, int] = field(default_factory=dict)
    cited: int = 0
    ignored: int = 0

    def add(self, kind: str, count: int, second: int) -> None:
        """Count uses of one kind and moment."""
        if kind == "c":
            self.cited += count
            return
        if kind == "i":
            self.ignored += count
            return
        self.count += count
        self.last = max(self.last, second)
        day = _day(second)
        self.days[day] = self.days.get(day, 0) + count

    def by_day(self) -> dict[str, int]:
        """How often it was read, by day."""
        if not self.loose:
            return self.days
        last = _day(self.last)
        return {**self.days, last: self.days.get(last, 0) + self.loose}


def _day(second: int) -> str:
    return datetime.fromtimestamp(second, UTC).date().isoformat()


def _by_team(fields: Mapping[bytes, bytes]) -> dict[UUID, dict[UUID, Uses]]:
    """What was used of each team's memories."""
    by_team: dict[UUID, dict[str, Uses]] = {}
    for name, value in fields.items():
        team, second, last, *kind = name.decode().replace("-", "").split(":")
        entries = by_team.setdefault(UUID(team), {})
        if last in ("n", "t"):
            uses = entries.setdefault(second, Uses())
            if last == "n":
                uses.count += int(value)
                uses.loose += int(value)
            else:
                uses.last = max(uses.last, int(value))
        elif last in ("c", "i"):
            entries.setdefault(second, Uses()).add(last, int(value), 0)
        else:
            for memory in last.split(","):
                uses = entries.setdefault(memory, Uses())
                uses.add(kind[0] if kind else "n", int(value), int(second))
    return {
        team: {UUID(memory): uses for memory, uses in entries.items()}
        for team, entries in by_team.items()
    }


@retried
def _flush(team_id: UUID, batch: UUID, uses: Mapping[UUID, Uses]) -> None:
    with team_scope(team_ids=[team_id], actor="task:flush_usage"):
        write_uses(team_id=team_id, batch=batch, uses=uses)


def write_uses(*, team_id: UUID, batch: UUID, uses: Mapping[UUID, Uses]) -> None:
    """Add to the counters, once for each name of a batch; call it in the team's scope."""
    ids = sorted(uses)
    ordered = [uses[memory_id] for memory_id in ids]
    latest = max(each.last for each in ordered)
    given: dict[str, Any] = {  # Any: a parameter of any type
        "team": team_id,
        "batch": batch,
        "ids": ids,
        "retrieved": [each.count for each in ordered],
        "cited": [each.cited for each in ordered],
        "ignored": [each.ignored for each in ordered],
        "times": [
            datetime.fromtimestamp(each.last, UTC) if each.last else None for each in ordered
        ],
        "days": [json.dumps(each.by_day()) for each in ordered],
        # Where nothing was read no day has become an old one.
        "oldest": _day(latest - KEPT_DAYS * _DAY_SECONDS) if latest else "",
    }
    with connection.cursor() as cursor:
        cursor.execute(_WRITE, given)
        cursor.execute(_FORGET, given)


@retried
def report_usage(
    *,
    viewer: Viewer,
    cited: Collection[UUID],
    ignored: Collection[UUID],
    work: Work | None = None,
) -> None:
    """Count one citation or ignore of each memory, in whatever status it is by now.

    At least one memory is named, and none in both. What was cited in a `work` is predicted when
    its signals come again. Raises NotFoundError with the first id that the viewer may not see; then
    nothing is counted.
    """
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        rows = Memory.objects.visible_to(viewer).filter(pk__in={*cited, *ignored})
        known = {row.pk: row for row in rows.order_by("pk")}
        for field, ids in (("cited", cited), ("ignored", ignored)):
            for memory_id in ids:
                if memory_id not in known:
                    raise NotFoundError(f"There is no memory {memory_id}.", field=field)
        uses = {key: Uses(cited=int(key in cited), ignored=int(key in ignored)) for key in known}
        write_uses(team_id=viewer.team_id, batch=new_id(), uses=uses)
        if work is not None:
            for memory_id, memory in known.items():
                if memory_id in cited and memory.is_live:
                    note_useful(memory=memory, work=work)
