"""Liveness, readiness, and the heartbeat of the workers: a Redis key that each task renews."""

from __future__ import annotations

from contextlib import suppress
from functools import cache

import redis
from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django_redis import get_redis_connection

from memory.selectors.job_queue import oldest_wait
from memory.writing.indexing.vectors import pending_counts
from routing.clients.quick_redis import QuickRedis

from .problems import RETRY_AFTER_SECONDS

AT_WORK = f"{settings.REDIS_PREFIX}:at-work"
# Beat sends a task every few seconds, so a minute without any means that no worker runs.
_BETWEEN_TASKS_SECONDS = 60
# No request waits for the key, and losing one would report a working worker as away.
_PATIENCE_SECONDS = 2.0


def healthz(_request: HttpRequest) -> HttpResponse:
    """200 while this process answers at all."""
    return JsonResponse({"status": "ok"})


def readyz(_request: HttpRequest) -> HttpResponse:
    """200 when PostgreSQL and Redis answer, else 503; reports the worker and what waits as well."""
    needed = {"postgresql": postgres_answers(), "redis": redis_answers()}
    parts = {**needed, "background": is_anybody_at_work()}
    body: dict[str, object] = {name: "ok" if answers else "away" for name, answers in parts.items()}
    wait: float | None = None
    pending: int | None = None
    with suppress(DatabaseError, InterfaceError):
        if needed["postgresql"]:
            wait, pending = oldest_wait(), sum(pending_counts().values())
    body["oldest_waiting_job_seconds"] = None if wait is None else round(wait, 1)
    body["pending_vectors"] = pending
    if all(needed.values()):
        return JsonResponse({"status": "ok", **body})
    return JsonResponse(
        {"status": "unavailable", **body},
        status=503,
        headers={"Retry-After": str(RETRY_AFTER_SECONDS)},
    )


def postgres_answers() -> bool:
    """Whether PostgreSQL answers and holds our tables."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1 FROM teams_team LIMIT 1")
    except (DatabaseError, InterfaceError):
        return False
    return True


def redis_answers() -> bool:
    """Whether Redis answers."""
    try:
        return bool(get_redis_connection("default").ping())
    except redis.RedisError:
        return False


def is_anybody_at_work() -> bool:
    """Whether a task runs or ended within a minute; False where Redis is away."""
    return bool(_heartbeat().ask(lambda client: client.exists(AT_WORK)))


def note_at_work(*, is_busy: bool) -> None:
    """Notes that a task begins, which may last up to the time limit of tasks, or has ended."""
    seconds = _BETWEEN_TASKS_SECONDS + (settings.CELERY_TASK_TIME_LIMIT if is_busy else 0)
    _heartbeat().ask(lambda client: client.set(AT_WORK, 1, ex=seconds))


@cache
def _heartbeat() -> QuickRedis:
    return QuickRedis(settings.REDIS_URL, patience=_PATIENCE_SECONDS)
