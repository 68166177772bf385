"""Liveness and readiness."""

from __future__ import annotations

import redis
from django.db import DatabaseError, InterfaceError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django_redis import get_redis_connection

from config.worker_heartbeat import is_anybody_at_work

from .problems import RETRY_AFTER_SECONDS


def healthz(request: HttpRequest) -> HttpResponse:
    """200 while this process answers at all."""
    del request
    return JsonResponse({"status": "ok"})


def readyz(request: HttpRequest) -> HttpResponse:
    """200 when PostgreSQL and Redis answer, else 503 with the services that are down.

    `background` reports the worker, without which requests are still answered.
    """
    del request
    needed = {"postgresql": postgres_answers(), "redis": redis_answers()}
    parts = {**needed, "background": is_anybody_at_work()}
    body = {name: "ok" if answers else "away" for name, answers in parts.items()}
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
