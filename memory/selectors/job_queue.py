"""Jobs that wait: for which teams, and for how long."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.db import connection

from teams.models import Team
from teams.services.flags import default_flags
from teams.tenancy import team_scope


@dataclass(frozen=True, slots=True)
class TeamQueue:
    """A team's unfinished jobs; `waits_for` is the age of the oldest that waits, by the database.

    It is None where none waits.
    """

    team_id: UUID
    queued: int
    running: int
    waits_for: timedelta | None


def team_queues() -> list[TeamQueue]:
    """The teams with unfinished jobs that have memory switched on, in any scope."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT * FROM palimpsest_waiting_jobs()")
        queues = [TeamQueue(*row) for row in cursor.fetchall()]
    if not queues:
        return []
    ids = [each.team_id for each in queues]
    with team_scope(team_ids=ids, actor="queue"):
        flags = dict(Team.objects.filter(pk__in=ids).values_list("pk", "feature_flags"))
    return [each for each in queues if default_flags().overridden(flags.get(each.team_id)).memory]


def oldest_wait() -> float | None:
    """For how many seconds the oldest waiting job of all teams has waited; None where none does."""
    waits = [each.waits_for.total_seconds() for each in team_queues() if each.waits_for]
    return max(0.0, *waits) if waits else None
