"""Counts of what was retrieved, gathered in Redis and written in batches, and reports of use."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
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
from teams.services.people import frozen_team_ids
from teams.tenancy import team_scope

# A hash of counts that are not written down yet. Of each memory it has a field for each day on
# which it was retrieved, for the last time (t), and for citations (c) and ignores (i).
NOTED = f"{settings.REDIS_PREFIX}:usage:days"
TAKEN = f"{NOTED}:taken"
# So many days of a memory's retrievals are kept, counted back from the last one.
KEPT_DAYS = 60
_DAY = timedelta(days=1)
# Pairs of memories that were among the first four of an answer are counted by month. Fewer times
# may be chance.
FEWEST = 3
_MOST_PAIRS = 10_000
_MOST_READ = 2_000
_KEPT = 62 * _DAY
# Besides the hash and the pairs: team, day, second, the memories, most pairs, seconds to keep them.
_NOTE = """
local best = {}
for memory in string.gmatch(ARGV[4], '[^,]+') do
    local name = ARGV[1] .. ':' .. memory .. ':'
    redis.call('HINCRBY', KEYS[1], name .. ARGV[2], 1)
    redis.call('HSET', KEYS[1], name .. 't', ARGV[3])
    if #best < 4 then
        best[#best + 1] = memory
    end
end
table.sort(best)
for one = 1, #best - 1 do
    for other = one + 1, #best do
        redis.call('ZINCRBY', KEYS[2], 1, best[one] .. ':' .. best[other])
    end
end
redis.call('ZREMRANGEBYRANK', KEYS[2], 0, -1 - ARGV[5])
redis.call('EXPIRE', KEYS[2], ARGV[6])
"""
# The counts so far become a batch with a name; one that is still there comes first.
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
    """Counts one retrieval of each memory, best first; never fails a read, nor slows it."""
    # Without hyphens an id is written in a third of the time.
    ids = ",".join(
        [
            each.replace("-", "") if isinstance(each, str) else f"{each.int:032x}"
            for each in memory_ids
        ]
    )
    second = int(now.timestamp())
    given = (str(team_id), _day(second), second, ids, _MOST_PAIRS, int(_KEPT.total_seconds()))
    if ids:
        # With its text: that Redis has not seen it yet would be known only afterwards.
        afterwards(lambda pipe: pipe.eval(_NOTE, 2, NOTED, _pairs_key(team_id, now), *given))


def note_answer(
    *, team_id: UUID, find: Callable[[], tuple[Iterable[UUID], Iterable[UUID]]]
) -> None:
    """Counts the memories that an answer cited and ignored, which `find` finds once it is sent."""

    def note(pipe: Pipeline) -> None:
        for kind, ids in zip("ci", find(), strict=True):
            for memory_id in ids:
                pipe.hincrby(NOTED, f"{team_id}:{memory_id.hex}:{kind}", 1)

    afterwards(note)


def told_together(*, team_id: UUID, now: datetime) -> Mapping[frozenset[UUID], int]:
    """Returns how often pairs were among the best of an answer, this month and the one before.

    Only the 2,000 most frequent ones of each month; none while Redis is away.
    """
    counts: Counter[frozenset[UUID]] = Counter()
    client = get_redis_connection("default")
    try:
        for key in (_pairs_key(team_id, at) for at in (now, now.replace(day=1) - _DAY)):
            rows = client.zrevrangebyscore(key, "+inf", 1, start=0, num=_MOST_READ, withscores=True)
            for name, times in rows:
                counts[frozenset(map(UUID, name.decode().split(":")))] += int(times)
    except RedisError:
        return {}
    return {pair: times for pair, times in counts.items() if times >= FEWEST}


def _pairs_key(team_id: UUID, at: datetime) -> str:
    return f"{settings.REDIS_PREFIX}:together:{team_id}:{at.astimezone(UTC):%Y-%m}"


def _day(second: int) -> str:
    return datetime.fromtimestamp(second, UTC).date().isoformat()


def flush_noted_usage() -> None:
    """Writes the counts to the database, one transaction a team, each count once.

    Counts leave Redis after they are written. After a crash in between, or with two flushes at the
    same moment, the batch's name in the database tells that a team's counts stand there already.
    """
    client = get_redis_connection("default")
    taken = client.eval(_TAKE, 2, NOTED, TAKEN, str(new_id()))
    fields = dict(zip(taken[::2], taken[1::2], strict=True))
    if not fields:
        return
    batch = fields.pop(b"batch").decode()
    frozen = frozen_team_ids()
    for team_id, counts in _by_team(fields).items():
        if team_id in frozen:
            # Read while it moves: what it takes along was counted before.
            continue
        _flush(team_id, UUID(batch), counts)
    client.eval(_DROP, 1, TAKEN, batch)


@dataclass(slots=True)
class Uses:
    """Uses of a memory: retrievals by day, the second of the last one, citations and ignores."""

    days: Counter[str] = field(default_factory=Counter)
    last: int = 0
    cited: int = 0
    ignored: int = 0


def _by_team(fields: Mapping[bytes, bytes]) -> dict[UUID, dict[UUID, Uses]]:
    by_team: dict[UUID, dict[UUID, Uses]] = {}
    for name, value in fields.items():
        team, memory, kind = name.decode().split(":")
        uses = by_team.setdefault(UUID(team), {}).setdefault(UUID(memory), Uses())
        match kind:
            case "t":
                uses.last = max(uses.last, int(value))
            case "c":
                uses.cited += int(value)
            case "i":
                uses.ignored += int(value)
            case day:
                uses.days[day] += int(value)
    return by_team


@retried
def _flush(team_id: UUID, batch: UUID, uses: Mapping[UUID, Uses]) -> None:
    with team_scope(team_ids=[team_id], actor="task:flush_usage"):
        write_uses(team_id=team_id, batch=batch, uses=uses)


def write_uses(*, team_id: UUID, batch: UUID, uses: Mapping[UUID, Uses]) -> None:
    """Adds to the counters, once for each name of a batch; call it in the team's scope."""
    ids = sorted(uses)
    ordered = [uses[memory_id] for memory_id in ids]
    latest = max(each.last for each in ordered)
    given: dict[str, Any] = {  # Any: a parameter of any type
        "team": team_id,
        "batch": batch,
        "ids": ids,
        "retrieved": [each.days.total() for each in ordered],
        "cited": [each.cited for each in ordered],
        "ignored": [each.ignored for each in ordered],
        "times": [
            datetime.fromtimestamp(each.last, UTC) if each.last else None for each in ordered
        ],
        "days": [json.dumps(each.days) for each in ordered],
        # Where nothing was read no day has become an old one.
        "oldest": _day(latest - KEPT_DAYS * 86_400) if latest else "",
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
    """Counts one citation or ignore of each memory, in whatever status it is by now.

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
