"""The log as readers may see it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import QuerySet

from audit.models import MemoryLog
from audit.selectors.instants import last_number_up_to
from memory.domain.viewer import Viewer
from memory.models import Memory
from teams.models import EndUser

# Of so many memories the log is read by memory, of more from the newest row down.
_FEW = 1_000
# So many rows of a time are looked up by it; of more, some are soon met from the newest row down.
_FEW_ROWS = 5_000
# Between a change and its commit. What was changed up to a time has no greater number than the
# commits up to so much later; without that bound a page would walk there from the newest row down.
_LONGEST = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class LogFilters:
    """What the log is narrowed to; all that are given must hold; times include the first."""

    memory: UUID | None = None
    event: Sequence[str] = ()
    actor: str | None = None
    conversation: UUID | None = None
    user: str | None = None
    begin: datetime | None = None
    end: datetime | None = None


def filtered_log(*, viewer: Viewer, filters: LogFilters) -> QuerySet[MemoryLog, MemoryLog]:
    """The rows that match, of memories that the viewer may see."""
    conditions = {
        "memory_id": filters.memory,
        "event__in": filters.event or None,
        "actor": filters.actor,
        "conversation_id": filters.conversation,
    }
    rows = _of_the_time(viewer, filters).filter(
        **{name: value for name, value in conditions.items() if value is not None}
    )
    is_limited = viewer.agent_id is not None or viewer.allowed_categories or viewer.project_ids
    if filters.user is None and not is_limited:
        # A key of the team sees every memory of it.
        return rows
    seen = Memory.objects.visible_to(viewer)
    if filters.user is not None:
        people = EndUser.objects.filter(team_id=viewer.team_id, external_id=filters.user)
        person = people.values_list("id", flat=True).first()
        if person is None:
            return rows.none()
        seen = seen.filter(end_user_id=person)
        ids = list(seen.values_list("id", flat=True)[: _FEW + 1])
        if len(ids) <= _FEW:
            # Looked up one by one; with the query itself the whole log might be read for them.
            return rows.filter(memory_id__in=ids)
    return rows.filter(memory_id__in=seen.values("id"))


def _of_the_time(viewer: Viewer, filters: LogFilters) -> QuerySet[MemoryLog, MemoryLog]:
    """The team's rows of the time that is asked for, looked up by it where they are few."""
    rows = MemoryLog.objects.filter(team_id=viewer.team_id)
    times = {"at__gte": filters.begin, "at__lt": filters.end}
    given = {name: value for name, value in times.items() if value is not None}
    if not given:
        return rows
    found = rows.filter(**given).order_by("at")
    if found[: _FEW_ROWS + 1].count() > _FEW_ROWS:
        newest = None
        if filters.end is not None:
            newest = last_number_up_to(team_id=viewer.team_id, at=filters.end + _LONGEST)
        return rows.filter(**given) if newest is None else rows.filter(**given, seq__lte=newest)
    # With room for rows that come in between.
    return rows.filter(seq__in=found.values("seq")[: 2 * _FEW_ROWS])
