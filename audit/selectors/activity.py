"""When a team's memory changed: how many commits lie between given times."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise
from uuid import UUID

from django.db import connection

from audit.models import LogCommit

# Commits of a team are numbered without gaps, so two steps down an index count those in between,
# however many there are.
_POSITIONS = """
SELECT coalesce((
    SELECT c.position FROM audit_logcommit AS c
    WHERE c.team_id = %s AND c.at <= bound.at ORDER BY c.at DESC LIMIT 1
), 0)
FROM unnest(%s::timestamptz[]) WITH ORDINALITY AS bound (at, number)
ORDER BY bound.number
"""


def first_change_of(*, team_id: UUID) -> datetime | None:
    """When the team's first change was committed; None before it. Call it in the team's scope."""
    commits = LogCommit.objects.filter(team_id=team_id, at__isnull=False)
    return commits.order_by("at").values_list("at", flat=True).first()


def changes_between_bounds(*, team_id: UUID, bounds: Sequence[datetime]) -> list[int]:
    """How many commits were done between each two neighbours of `bounds`, which ascend.

    The first bound of a stretch is not in it, the last one is. Call it in the team's scope.
    """
    with connection.cursor() as cursor:
        cursor.execute(_POSITIONS, [team_id, list(bounds)])
        done = [position for (position,) in cursor.fetchall()]
    return [after - before for before, after in pairwise(done)]
