"""The time of the newest backup that a trial restore has verified, in Redis."""

from __future__ import annotations

from datetime import datetime

from django.conf import settings
from django_redis import get_redis_connection

_KEY = f"{settings.REDIS_PREFIX}:backup-verified"


def note_verified_backup(*, made_at: datetime) -> None:
    """Notes that a backup of that time was restored and verified, unless a newer one was."""
    last = last_verified_backup()
    if last is not None and last >= made_at:
        return
    get_redis_connection("default").set(_KEY, made_at.isoformat())


def last_verified_backup() -> datetime | None:
    """Returns when the newest verified backup was made; None if none is known."""
    found = get_redis_connection("default").get(_KEY)
    return datetime.fromisoformat(found.decode()) if found else None
