"""Usage counters: counted in Redis by reads, written down in batches by a task."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from datetime import UTC, datetime
from uuid import UUID

import redis
from django.conf import settings
from django.db import connection
from django_redis import get_redis_connection

from teams.tenancy import team_scope

NOTED = f"{settings.REDIS_PREFIX}:usage"
TAKEN = f"{NOTED}:taken"

logger = logging.getLogger(__name__)

_FLUSH = """
INSERT INTO memory_memoryusage
    (memory_id, team_id, retrieved, cited, ignored, succeeded, failed, last_accessed_at)
SELECT m.id, m.team_id, n.retrieved, 0, 0, 0, 0, n.accessed_at
FROM unnest(%s::uuid[], %s::bigint[], %s::timestamptz[]) AS n (memory_id, retrieved, accessed_at)
JOIN memory_memory m ON m.team_id = %s AND m.id = n.memory_id
ON CONFLICT (team_id, memory_id) DO UPDATE SET
    retrieved = memory_memoryusage.retrieved + EXCLUDED.retrieved,
    last_accessed_at = greatest(memory_memoryusage.last_accessed_at, EXCLUDED.last_accessed_at)
"""


def note_retrieved(*, team_id: UUID, memory_ids: Iterable[UUID], now: datetime) -> None:
    """Count one retrieval of each memory; never fails or slows the read when Redis is away."""
    ids = [str(memory_id) for memory_id in memory_ids]
    if not ids:
        return
    stamp = int(now.timestamp())
    try:
        pipe = get_redis_connection("default").pipeline(transaction=True)
        for memory_id in ids:
            pipe.hincrby(NOTED, f"{team_id}:{memory_id}:n", 1)
            pipe.hset(NOTED, f"{team_id}:{memory_id}:t", stamp)
        pipe.execute()
    except redis.RedisError:
        logger.warning("A retrieval was not counted: Redis is away.")


def flush_noted_usage() -> None:
    """Write what was counted to the database, one transaction a team.

    A team's counts leave Redis only after they are written; a crash between the two counts them
    again, at most one batch.
    """
    client = get_redis_connection("default")
    if not client.exists(TAKEN):
        if not client.exists(NOTED):
            return
        client.rename(NOTED, TAKEN)
    by_team: dict[UUID, dict[UUID, list[int]]] = {}
    for field, value in client.hgetall(TAKEN).items():
        team, memory, kind = field.decode().split(":")
        entry = by_team.setdefault(UUID(team), {}).setdefault(UUID(memory), [0, 0])
        entry[0 if kind == "n" else 1] = int(value)
    for team_id, counts in by_team.items():
        with team_scope(team_ids=[team_id], actor="task:flush_usage"):
            _write(team_id, counts)
        for memory_id in counts:
            client.hdel(TAKEN, f"{team_id}:{memory_id}:n", f"{team_id}:{memory_id}:t")


def _write(team_id: UUID, counts: dict[UUID, list[int]]) -> None:
    ids = sorted(counts)
    with connection.cursor() as cursor:
        cursor.execute(
            _FLUSH,
            [
                ids,
                [counts[memory_id][0] for memory_id in ids],
                [datetime.fromtimestamp(counts[memory_id][1], UTC) for memory_id in ids],
                team_id,
            ],
        )
