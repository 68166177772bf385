"""The log: filtered, its latest entries, and what ranges of it changed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Max, Min, QuerySet
from django.utils import timezone

from audit.models import MemoryLog
from audit.selectors import last_number_up_to
from memory.domain.audience import Viewer
from memory.models import Memory
from memory.models.memory import LIVE
from memory.selectors.filters import lookups
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
    """Filters of the log, all of which must hold; `begin` is included, `end` is not."""

    memory: UUID | None = None
    event: Sequence[str] = ()
    actor: str | None = None
    conversation: UUID | None = None
    user: str | None = None
    begin: datetime | None = None
    end: datetime | None = None


def filtered_log(*, viewer: Viewer, filters: LogFilters) -> QuerySet[MemoryLog, MemoryLog]:
    """Returns the rows that match, of memories that the viewer may see."""
    conditions = lookups(
        memory_id=filters.memory,
        event__in=filters.event,
        actor=filters.actor,
        conversation_id=filters.conversation,
    )
    rows = _of_the_time(viewer, filters).filter(**conditions)
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
    rows = MemoryLog.objects.filter(team_id=viewer.team_id)
    times = lookups(at__gte=filters.begin, at__lt=filters.end)
    if not times:
        return rows
    found = rows.filter(**times).order_by("at")
    if found[: _FEW_ROWS + 1].count() > _FEW_ROWS:
        newest = None
        if filters.end is not None:
            # Nothing is of later than now, and the last day of the calendar has no next one.
            end = min(filters.end, timezone.now())
            newest = last_number_up_to(team_id=viewer.team_id, at=end + _LONGEST)
        return rows.filter(**times, **lookups(seq__lte=newest))
    # With room for rows that come in between.
    return rows.filter(seq__in=found.values("seq")[: 2 * _FEW_ROWS])


# Each team's rows of each event are read from the newest down by the index of events. One query
# for all of them would walk the log past whatever else was written since.
_LATEST = """
SELECT entry.seq, entry.team_id, entry.memory_id, entry.event, entry.actor, entry.reason, entry.at,
    entry.commit_id
FROM unnest(%s::uuid[]) AS team (id)
CROSS JOIN unnest(%s::text[]) AS kind (event)
CROSS JOIN LATERAL (
    SELECT * FROM audit_memorylog AS log
    WHERE log.team_id = team.id AND log.event = kind.event
    ORDER BY log.seq DESC LIMIT %s
) AS entry
ORDER BY entry.seq DESC
"""


def latest_of_events(
    *, team_ids: Sequence[UUID], events: Sequence[str], of_each: int
) -> list[MemoryLog]:
    """Returns the newest rows of these events, at most `of_each` of each team and event.

    They carry no state and no digest. Call it in a scope that shows the teams.
    """
    return list(MemoryLog.objects.raw(_LATEST, [list(team_ids), list(events), of_each]))


State = Mapping[str, Any]  # Any: a memory's columns as the log has them


@dataclass(frozen=True, slots=True)
class LogRange:
    """The rows `first` to `last` of a team's log that belong to one commit."""

    team_id: UUID
    commit_id: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Change:
    """A memory's states before some ranges, None for a new one, and after.

    `seq` is the number of the last log row about it in them.
    """

    memory_id: UUID
    before: State | None
    after: State
    seq: int

    @property
    def states(self) -> tuple[State, State]:
        """Both states of a memory that is not new."""
        assert self.before is not None
        return self.before, self.after

    @property
    def is_back(self) -> bool:
        """Returns whether undoing the change makes the memory live again."""
        before, after = self.states
        return before["status"] in LIVE and after["status"] not in LIVE


class LogMark:
    """A mark of the end of the team's log, to find what this transaction writes after it.

    Make it inside the transaction, once the memories that are going to change are locked.
    """

    def __init__(self, *, team_id: UUID) -> None:
        log = MemoryLog.objects.filter(team_id=team_id)
        self._team_id = team_id
        self._before: int = log.order_by("-seq").values_list("seq", flat=True).first() or 0

    def written(self, *, locked: Collection[UUID]) -> LogRange | None:
        """Returns the range written since; None if none of the `locked` memories changed."""
        rows = MemoryLog.objects.filter(team_id=self._team_id, seq__gt=self._before)
        # They are locked: a later row about one of them is of this transaction.
        commit_id = rows.filter(memory_id__in=locked).values_list("commit_id", flat=True).first()
        if commit_id is None:
            return None
        ends = rows.filter(commit_id=commit_id).aggregate(first=Min("seq"), last=Max("seq"))
        return LogRange(self._team_id, commit_id, ends["first"], ends["last"])


def ids_in(*, ranges: Iterable[LogRange]) -> set[UUID]:
    """Returns the memories that the ranges are about."""
    return {pk for each in ranges for pk in _rows(each).values_list("memory_id", flat=True)}


def changes_in(*, ranges: Iterable[LogRange]) -> list[Change]:
    """Returns what the ranges, in order of time, did to each memory; call it in scope."""
    found: dict[UUID, Change] = {}
    for each in ranges:
        for row in _rows(each).order_by("seq"):
            known = found.get(row.memory_id)
            before = known.before if known else _before(row)
            found[row.memory_id] = Change(row.memory_id, before, row.state, row.seq)
    return list(found.values())


def _rows(each: LogRange) -> Any:  # Any: a query set of what Django leaves untyped
    return MemoryLog.objects.filter(
        team_id=each.team_id, commit_id=each.commit_id, seq__range=(each.first, each.last)
    )


def _before(row: MemoryLog) -> State | None:
    if row.is_first:
        return None
    earlier = MemoryLog.objects.filter(
        team_id=row.team_id, memory_id=row.memory_id, seq__lt=row.seq
    )
    return earlier.order_by("-seq").values_list("state", flat=True).first()
