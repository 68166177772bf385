"""In which time zone a team's days begin, for questions that say "yesterday"."""

from __future__ import annotations

from datetime import datetime, timedelta, tzinfo
from uuid import UUID

from django.conf import settings

from memory.selectors.ttl_cache import SharedTTLCache
from teams.domain.team_settings import zone_or_utc
from teams.models import Team
from teams.tenancy import team_scope

# The zone of each team that was asked for, and when.
_known = SharedTTLCache(seconds=24 * 3600)


def zone_of(*, team_id: UUID, now: datetime) -> tzinfo:
    """The team's time zone, as it was within the last `HOT_ANSWER_SECONDS`; call it in any scope.

    That is how long an answer is kept that was made in another one.
    """
    known: tuple[tzinfo, datetime] | None = _known.get(team_id)
    if known is not None and abs(now - known[1]) < timedelta(seconds=settings.HOT_ANSWER_SECONDS):
        return known[0]
    with team_scope(team_ids=[team_id], actor="zone"):
        name = Team.objects.filter(pk=team_id).values_list("time_zone", flat=True).first()
    zone = zone_or_utc(name or "UTC")
    _known.put(team_id, (zone, now))
    return zone
