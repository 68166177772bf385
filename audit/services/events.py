"""Operational events: what was done, how often, with what result (seed 004 §14).

`record_events` writes in the transaction of the work it reports, for background tasks. Requests
use `add_events`, which puts events into a buffer in Redis that a task stores every few seconds.
That may lose events while Redis is down, events beyond EVENT_BUFFER when no worker runs, and one
batch when the database fails during its commit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime, timedelta
from uuid import UUID

import orjson
import redis
from django.conf import settings
from django.db import transaction
from django_redis import get_redis_connection
from redis.client import Pipeline

from audit.models import OperationalEvent
from teams.ids import new_id
from teams.prepared import run_prepared
from teams.services.people import all_team_ids
from teams.tenancy import team_scope

BUFFER = f"{settings.REDIS_PREFIX}:events"
FLUSH_BATCH = 2_000
# Tables are made for so many days ahead, so that a task that fails for some time is no loss.
DAYS_AHEAD = 7
ACTOR = "task:events"


@dataclass(frozen=True, slots=True)
class Event:
    """One event: where, what, its status (ok, error, skipped); `meta` holds no contents."""

    node: str
    op: str
    status: str = "ok"
    memory_id: UUID | None = None
    end_user_id: UUID | None = None
    conversation_id: UUID | None = None
    similarity: float | None = None
    meta: Mapping[str, object] = field(default_factory=dict)


_FIELDS = [each.name for each in fields(Event)]


def record_events(*, team_id: UUID, events: Iterable[Event]) -> None:
    """Insert the events in one statement; call it in the team's scope."""
    OperationalEvent.objects.bulk_create(
        OperationalEvent(team_id=team_id, **_shallow(event)) for event in events
    )


def add_events(*, pipe: Pipeline, team_id: UUID, events: Sequence[Event], now: datetime) -> None:
    """Put the events into the buffer, once somebody sends what is in the pipeline."""
    if events:
        rows = ({"id": new_id(), "team_id": team_id, "at": now, **_shallow(e)} for e in events)
        pipe.rpush(BUFFER, *(orjson.dumps(row, default=str) for row in rows))
        pipe.ltrim(BUFFER, -settings.EVENT_BUFFER, -1)


def flush_events() -> int:
    """Store the buffered events; returns how many. Only one task at a time does so."""
    client: redis.Redis = get_redis_connection("default")
    teams = all_team_ids()
    written = 0
    while True:
        with team_scope(team_ids=teams, actor=ACTOR), transaction.atomic():
            if not _is_alone():
                return written
            waiting = client.lpop(BUFFER, FLUSH_BATCH)
            batch = waiting if isinstance(waiting, list) else []
            # Rows of an unknown team could only be refused, and the others with them.
            rows = [row for row in map(_decoded, batch) if row.team_id in set(teams)]
            try:
                OperationalEvent.objects.bulk_create(rows)
            except Exception:
                client.lpush(BUFFER, *reversed(batch))
                raise
        written += len(rows)
        if len(batch) < FLUSH_BATCH:
            return written


def keep_event_days(*, now: datetime) -> tuple[int, int]:
    """Make the tables of the coming days, drop those older than EVENT_DAYS; how many of each."""
    today = now.astimezone(UTC).date()
    coming = [today - timedelta(days=1), today + timedelta(days=DAYS_AHEAD)]
    ((made,),) = run_prepared("SELECT palimpsest_make_event_days($1, $2)", coming)
    first_kept = today - timedelta(days=settings.EVENT_DAYS)
    ((dropped,),) = run_prepared("SELECT palimpsest_drop_event_days($1)", [first_kept])
    return made, dropped


def _is_alone() -> bool:
    """Returns whether no other task writes the buffer, and locks it until the transaction ends."""
    statement = "SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0))"
    ((is_alone,),) = run_prepared(statement, [f"flush|{BUFFER}"])
    return bool(is_alone)


def _shallow(event: Event) -> dict[str, object]:
    return {name: getattr(event, name) for name in _FIELDS}


def _decoded(line: bytes | str) -> OperationalEvent:
    row = OperationalEvent(**orjson.loads(line))
    row.team_id = UUID(str(row.team_id))
    return row
