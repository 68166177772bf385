"""Whether somebody does the background's tasks: each leaves word in Redis, and words fade."""

from __future__ import annotations

from functools import cache

from django.conf import settings

from routing.clients.quick_redis import QuickRedis

AT_WORK = f"{settings.REDIS_PREFIX}:at-work"

# Beat gives out a task every few seconds, so a minute without any is no chance.
_LEAST_SECONDS = 60.0
_MISSED = 3
# Nobody waits for the word, and one that is missed tells of an idle worker that works.
_PATIENCE_SECONDS = 2.0


def note_begun() -> None:
    """Say that a task begins, which may take until the limit of tasks."""
    _note(settings.CELERY_TASK_TIME_LIMIT + _between_tasks())


def note_done() -> None:
    """Say that a task has ended, well or not."""
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
    shortest = min(float(each["schedule"]) for each in settings.CELERY_BEAT_SCHEDULE.values())
    return max(_LEAST_SECONDS, _MISSED * shortest)


def _note(seconds: float) -> None:
    _redis().ask(lambda client: client.set(AT_WORK, 1, px=round(seconds * 1000)))
