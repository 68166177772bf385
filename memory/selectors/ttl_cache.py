"""Thread-safe caches whose entries expire, and the time zones of teams in one."""

from __future__ import annotations

from collections.abc import Hashable
from datetime import datetime, timedelta, tzinfo
from threading import Lock
from typing import Any
from uuid import UUID

from cachetools import TTLCache
from django.conf import settings

from teams.domain.team_settings import zone_or_utc
from teams.models import Team
from teams.tenancy import team_scope

# How long a process goes on as if a team had no approximate index, or an owner few memories: being
# late costs only time.
_SECONDS = 60.0
_MOST = 10_000


class SharedTTLCache:
    """A `cachetools.TTLCache` that threads may share."""

    def __init__(self, *, seconds: float = _SECONDS) -> None:
        self._entries: TTLCache[Hashable, Any] = TTLCache(_MOST, seconds)
        self._lock = Lock()

    def get(self, key: Hashable) -> Any:  # Any: a value of any type
        """Returns the value, or None if there is none or it has expired."""
        with self._lock:
            return self._entries.get(key)

    def put(self, key: Hashable, value: object) -> None:
        with self._lock:
            self._entries[key] = value

    def clear(self) -> None:
        with self._lock:
            self._entries.clear()


# The zone of each team that was asked for, and when.
_zones = SharedTTLCache(seconds=24 * 3600)


def zone_of(*, team_id: UUID, now: datetime) -> tzinfo:
    """Returns the team's time zone, at most `HOT_ANSWER_SECONDS` old; call it in any scope.

    An answer made in another zone is cached no longer than that.
    """
    known: tuple[tzinfo, datetime] | None = _zones.get(team_id)
    if known is not None and abs(now - known[1]) < timedelta(seconds=settings.HOT_ANSWER_SECONDS):
        return known[0]
    with team_scope(team_ids=[team_id], actor="zone"):
        name = Team.objects.filter(pk=team_id).values_list("time_zone", flat=True).first()
    zone = zone_or_utc(name or "UTC")
    _zones.put(team_id, (zone, now))
    return zone
