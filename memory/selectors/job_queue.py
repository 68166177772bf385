"""Teams whose jobs are due, and for how long the oldest job has waited."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.db import connection

from teams.models import Team
from teams.services.team_settings import default_flags
from teams.tenancy import team_scope


@dataclass(frozen=True, slots=True)
class TeamQueue:
    """A team's due jobs of one kind; `waits_for` is the age of the oldest that nobody has begun.

    It is None where all were begun.
    """

    team_id: UUID
    kind: str
    waits_for: timedelta | None


def team_queues() -> list[TeamQueue]:
    """Returns the queues of teams that have memory switched on, in any scope."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT * FROM palimpsest_due_jobs()")
        queues = [TeamQueue(*row) for row in cursor.fetchall()]
    ids = {each.team_id for each in queues}
    with team_scope(team_ids=ids, actor="queue"):
        flags = dict(Team.objects.filter(pk__in=ids).values_list("pk", "feature_flags"))
    return [each for each in queues if default_flags().overridden(flags.get(each.team_id)).memory]


def oldest_wait() -> float | None:
    """Returns for how many seconds the oldest queued job has been due; None where none is."""
    waits = [each.waits_for.total_seconds() for each in team_queues() if each.waits_for]
    return max(waits, default=None)
