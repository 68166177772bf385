"""Sign of life of the Celery workers: a Redis key that every task renews and that expires."""

from __future__ import annotations

from contextlib import suppress

from django.conf import settings
from django_redis import get_redis_connection
from redis import RedisError

AT_WORK = f"{settings.REDIS_PREFIX}:at-work"
# Beat sends a task every few seconds, so a minute without any means that no worker runs.
_QUIET_SECONDS = 60


def note_begun() -> None:
    """Notes the start of a task, which may last up to the time limit of tasks."""
    _note(settings.CELERY_TASK_TIME_LIMIT + _QUIET_SECONDS)


def note_done() -> None:
    """Notes the end of a task, whether it succeeded or failed."""
    _note(_QUIET_SECONDS)


def is_anybody_at_work() -> bool:
    """Returns whether a task runs or ended in the last minute; False where Redis is away."""
    with suppress(RedisError):
        return bool(get_redis_connection("default").exists(AT_WORK))
    return False


def _note(seconds: int) -> None:
    with suppress(RedisError):
        get_redis_connection("default").set(AT_WORK, 1, ex=seconds)
