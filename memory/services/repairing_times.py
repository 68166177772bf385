"""Mends times that are still to come: the clock was ahead when they were written.

Rows of the log and messages are evidence and stay as they are: when they were written the clock
said so. A memory's time is mended by a change that is logged like any other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import connection, models
from django.db.models import Q

from audit.models import LogCommit, MemoryLog
from audit.selectors.instants import note_set_back
from memory.models import Contradiction, Job, Memory, MemoryUsage
from memory.satellites.lifecycle.models import ConsolidationRun
from memory.services.retrying import retried
from teams.clock import SKEW
from teams.models import IdempotentRequest, Message
from teams.tenancy import team_scope

ACTOR = "command:repair_times"
_WHY = "its time was ahead of the clock"
_AT_ONCE = 200
# Times of work, of which the present takes the place.
_OF_WORK: tuple[tuple[type[models.Model], str], ...] = (
    (MemoryUsage, "last_accessed_at"),
    (Contradiction, "detected_at"),
    (ConsolidationRun, "created_at"),
    (Job, "queued_at"),
    (Job, "created_at"),
    (IdempotentRequest, "made_at"),
)
# The first time after the memory's commit at which everybody could see it by the clock.
_SEEN_SINCE = """
SELECT min(later.at) FROM audit_memorylog AS birth
JOIN audit_logcommit AS first ON first.team_id = birth.team_id AND first.id = birth.commit_id
JOIN audit_logcommit AS later ON later.team_id = first.team_id
    AND later.position >= first.position
WHERE birth.team_id = %s AND birth.memory_id = %s AND birth.is_first
"""


@dataclass(frozen=True, slots=True)
class FutureTimes:
    """How many rows of a kind bear a time that is still to come, and whether that can be mended."""

    kind: str
    count: int
    can_be_mended: bool = True


def repair_times(*, team_id: UUID, now: datetime, is_dry: bool) -> Iterator[FutureTimes]:
    """Mend a team's times that are more than a minute ahead of `now`; a dry run only counts.

    A memory gets the time at which the clock was set back after it was written, or `now`; what it
    says of a time to come (`valid_from` behind its own time) stays. Again it changes nothing. `now`
    is the database's.
    """
    after = now + SKEW
    with team_scope(team_ids=[team_id], actor=ACTOR):
        if not is_dry:
            note_set_back(team_id=team_id)
        # What is erased stays as it is.
        found = Memory.objects.filter(team_id=team_id, created_at__gt=after)
        ids = list(found.extra(where=["erased_at IS NULL"]).values_list("pk", flat=True))
    if not is_dry:
        for start in range(0, len(ids), _AT_ONCE):
            _mend_memories(team_id, ids[start : start + _AT_ONCE], now)
    yield FutureTimes("memories", len(ids))
    for model, field in _OF_WORK:
        with team_scope(team_ids=[team_id], actor=ACTOR):
            rows = model._default_manager.filter(Q(**{f"{field}__gt": after}), team_id=team_id)
            count = rows.count() if is_dry else rows.update(**{field: now})
        yield FutureTimes(f"{model._meta.verbose_name_plural}: {field}", count)
    with team_scope(team_ids=[team_id], actor=ACTOR):
        kept = [
            ("messages", Message.objects.filter(team_id=team_id, received_at__gt=after)),
            ("entries of the log", MemoryLog.objects.filter(team_id=team_id, at__gt=after)),
            ("commits of the log", LogCommit.objects.filter(team_id=team_id, at__gt=after)),
        ]
        counted = [FutureTimes(kind, rows.count(), can_be_mended=False) for kind, rows in kept]
    yield from counted


@retried
def _mend_memories(team_id: UUID, ids: list[UUID], now: datetime) -> None:
    with team_scope(team_ids=[team_id], actor=ACTOR, reason=_WHY):
        rows = Memory.objects.filter(team_id=team_id, pk__in=ids, created_at__gt=now)
        for memory in rows.order_by("id").select_for_update():
            at = min(_seen_since(memory) or now, now)
            mended: dict[str, object] = {"created_at": at}
            if memory.valid_from is not None and now < memory.valid_from <= memory.created_at:
                mended["valid_from"] = at
            Memory.objects.filter(team_id=team_id, pk=memory.pk).update(**mended)


def _seen_since(memory: Memory) -> datetime | None:
    with connection.cursor() as cursor:
        cursor.execute(_SEEN_SINCE, [memory.team_id, memory.pk])
        row = cursor.fetchone()
    at: datetime | None = row[0] if row else None
    return at
