"""Heartbeat of the Celery workers: a Redis key that every task renews and that expires."""

from __future__ import annotations

from functools import cache

from django.conf import settings

from routing.clients.quick_redis import QuickRedis

AT_WORK = f"{settings.REDIS_PREFIX}:at-work"

# Beat sends a task every few seconds, so a minute without any means that no worker runs.
_LEAST_SECONDS = 60.0
_MISSED = 3
# No request waits for the key, and losing one would report a working worker as away.
_PATIENCE_SECONDS = 2.0


def note_begun() -> None:
    """Note the start of a task, which may last up to the time limit of tasks."""
    _note(settings.CELERY_TASK_TIME_LIMIT + _between_tasks())


def note_done() -> None:
    """Note the end of a task, whether it succeeded or failed."""
    _note(_between_tasks())


def is_anybody_at_work() -> bool:
    """Whether a task runs or ended lately; False where Redis is away.

    Lately: a minute, or three times the shortest interval at which beat gives out a task.
    """
    return bool(_redis().ask(lambda client: client.exists(AT_WORK)))


@cache
def _redis() -> QuickRedis:
    return QuickRedis(settings.REDIS_URL, patience=_PATIENCE_SECONDS)


def _between_tasks() -> float:
    intervals = (each["schedule"] for each in settings.CELERY_BEAT_SCHEDULE.values())
    shortest: float = min(intervals)
    return max(_LEAST_SECONDS, _MISSED * shortest)


def _note(seconds: float) -> None:
    _redis().ask(lambda client: client.set(AT_WORK, 1, px=round(seconds * 1000)))
