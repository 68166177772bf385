"""Liveness, readiness, and the heartbeat of the workers: a Redis key that each task renews."""

from __future__ import annotations

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


def healthz(request: HttpRequest) -> HttpResponse:
    """200 while this process answers at all."""
    del request
    return JsonResponse({"status": "ok"})


def readyz(request: HttpRequest) -> HttpResponse:
    """200 when PostgreSQL and Redis answer, else 503 with the services that are down.

    `background` reports the worker, without which requests are still answered,
    `oldest_waiting_job_seconds` how long the oldest waiting job has waited (null where none waits)
    and `pending_vectors` how many memories wait to be embedded; both are null while PostgreSQL is
    away.
    """
    del request
    needed = {"postgresql": postgres_answers(), "redis": redis_answers()}
    parts = {**needed, "background": is_anybody_at_work()}
    body: dict[str, object] = {name: "ok" if answers else "away" for name, answers in parts.items()}
    body["oldest_waiting_job_seconds"] = _oldest_wait() if needed["postgresql"] else None
    body["pending_vectors"] = _pending_vectors() if needed["postgresql"] else None
    if all(needed.values()):
        return JsonResponse({"status": "ok", **body})
    return JsonResponse(
        {"status": "unavailable", **body},
        status=503,
        headers={"Retry-After": str(RETRY_AFTER_SECONDS)},
    )


def _oldest_wait() -> float | None:
    try:
        waits = oldest_wait()
    except (DatabaseError, InterfaceError):
        return None
    return None if waits is None else round(waits, 1)


def _pending_vectors() -> int | None:
    try:
        return sum(pending_counts().values())
    except (DatabaseError, InterfaceError):
        return None


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


def note_begun() -> None:
    """Notes the start of a task, which may last up to the time limit of tasks."""
    _note(settings.CELERY_TASK_TIME_LIMIT + _BETWEEN_TASKS_SECONDS)


def note_done() -> None:
    """Notes the end of a task, whether it succeeded or failed."""
    _note(_BETWEEN_TASKS_SECONDS)


def _note(seconds: int) -> None:
    _heartbeat().ask(lambda client: client.set(AT_WORK, 1, ex=seconds))


@cache
def _heartbeat() -> QuickRedis:
    return QuickRedis(settings.REDIS_URL, patience=_PATIENCE_SECONDS)
