"""The team's commits at a time and between times, which decide what a reader saw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from uuid import UUID

from django.db import connection

from audit.models import LogCommit
from teams.errors import InvalidError

_NO_MEMORY = UUID(int=0)
_MICROSECOND = timedelta(microseconds=1)
_NEWEST = """
SELECT clock_timestamp(), k.at FROM (SELECT 1) AS one
LEFT JOIN audit_commitclock k ON k.team_id = %s
"""
# Held for a moment only: whoever is committing is done, and the next one may go on.
_WAIT = """
SELECT pg_advisory_lock_shared(k), pg_advisory_unlock_shared(k), clock_timestamp()
FROM (SELECT palimpsest_commit_lock(%s) AS k OFFSET 0) AS team
"""
_AT = """
SELECT c.position, c.at, c.last_seq, c.last_memory_id, coalesce((
    SELECT s.last_seq FROM audit_seal s
    WHERE s.team_id = c.team_id AND s.upto_position <= c.position
    ORDER BY s.upto_position DESC, s.last_seq DESC LIMIT 1
), 0)
FROM audit_logcommit AS c
WHERE c.team_id = %(team)s AND c.at <= %(at)s
ORDER BY c.at DESC LIMIT 1
"""


@dataclass(frozen=True, slots=True)
class Instant:
    """The team's first `position` commits and nothing else; 0 before the first.

    `at` is the time that was asked for, `changed_at` that of the last of those commits. Their log
    rows have no number above `last_seq`, their memories no id above `last_memory_id`; others may
    have smaller ones. Rows up to `settled_seq` are of these commits, as the seals say.
    """

    team_id: UUID
    at: datetime
    position: int = 0
    changed_at: datetime | None = None
    last_seq: int = 0
    last_memory_id: UUID = _NO_MEMORY
    settled_seq: int = 0


def last_number_up_to(*, team_id: UUID, at: datetime) -> int | None:
    """The log's greatest number at the team's last commit up to `at`; None before the first."""
    commits = LogCommit.objects.filter(team_id=team_id, at__lte=at).order_by("-at")
    return commits.values_list("last_seq", flat=True).first()


def instant_at(*, team_id: UUID, at: datetime | None, field: str = "at") -> Instant:
    """Returns the instant of all commits up to `at` (now when None), the same whenever asked.

    A commit in progress may still turn out to be older than `at`, so the function waits for it.
    Call it in the team's scope. Raises InvalidError for a time in the future.
    """
    with connection.cursor() as cursor:
        cursor.execute(_NEWEST, [team_id])
        now, newest = cursor.fetchone()
        if at is None or newest is None or newest <= at:
            cursor.execute(_WAIT, [team_id])
            (*_, now) = cursor.fetchone()
        # A commit of this very microsecond may follow. Commits are ahead of a clock that was set
        # back, until it has caught up.
        latest = max(filter(None, (now - _MICROSECOND, newest)))
        asked = latest if at is None else at
        if asked > latest:
            clock = f"{now.astimezone(UTC):%Y-%m-%dT%H:%M:%S}Z"
            raise InvalidError(f"That is in the future. The server's time is {clock}.", field=field)
        cursor.execute(_AT, {"team": team_id, "at": asked})
        row = cursor.fetchone()
    if row is None:
        return Instant(team_id, asked)
    return Instant(team_id, asked, *row)


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
    """Returns the time of the team's first commit; None before it. Call it in the team's scope."""
    commits = LogCommit.objects.filter(team_id=team_id, at__isnull=False)
    return commits.order_by("at").values_list("at", flat=True).first()


def changes_between_bounds(*, team_id: UUID, bounds: Sequence[datetime]) -> list[int]:
    """Returns the number of commits between each of the ascending `bounds` and the next."""
    with connection.cursor() as cursor:
        cursor.execute(_POSITIONS, [team_id, list(bounds)])
        done = [position for (position,) in cursor.fetchall()]
    return [after - before for before, after in pairwise(done)]
