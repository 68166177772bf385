"""In which time zone a team's days begin, for questions that say "yesterday"."""

from __future__ import annotations

from datetime import datetime, timedelta, tzinfo
from uuid import UUID

from django.conf import settings
from django.db import connection

from teams.domain.zones import zone_or_utc
from teams.prepared import run_prepared
from teams.tenancy import team_scope

_OF_TEAM = "SELECT time_zone FROM teams_team WHERE id = $1"
# What is set comes back as the team that is asked for, so that it is set before a row is looked at.
_ALONE = """
WITH scope AS MATERIALIZED (
    SELECT set_config('palimpsest.team_ids', $1, true)::uuid AS team_id
)
SELECT found.time_zone FROM scope CROSS JOIN LATERAL (
    SELECT time_zone FROM teams_team WHERE id = scope.team_id OFFSET 0
) AS found
"""
# Of a process: the zone of each team that was asked for, and when.
_known: dict[UUID, tuple[tzinfo, datetime]] = {}
_MOST_KNOWN = 10_000


def zone_of(*, team_id: UUID, now: datetime) -> tzinfo:
    """The team's time zone, as it was within the last `HOT_ANSWER_SECONDS`; call it in any scope.

    That is how long an answer is kept that was made in another one.
    """
    known = _known.get(team_id)
    if known is not None and abs(now - known[1]) < timedelta(seconds=settings.HOT_ANSWER_SECONDS):
        return known[0]
    if connection.in_atomic_block:
        with team_scope(team_ids=[team_id], actor="zone"):
            rows = run_prepared(_OF_TEAM, [team_id])
    else:
        rows = run_prepared(_ALONE, [str(team_id)])
    zone = zone_or_utc(rows[0][0] if rows else "UTC")
    if len(_known) >= _MOST_KNOWN:
        _known.clear()
    _known[team_id] = (zone, now)
    return zone
