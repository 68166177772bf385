"""Purging: what expired, and nobody restored in time, is in no search and no prompt any more."""

from __future__ import annotations

import time
from datetime import datetime
from uuid import UUID

from audit.services.erasure import erase_purged, forget_statistics
from memory.domain.types import Status
from memory.models import Memory
from memory.writing.background import retried
from teams.domain.team_settings import LifecycleSettings
from teams.models import Team
from teams.services.people import all_team_ids
from teams.tenancy import team_scope

ACTOR = "task:purge"
_AT_ONCE = 200


def purge_due(*, now: datetime, seconds: float | None = None) -> int:
    """Purge what is due in all teams, for so many seconds at most; returns how many memories.

    Of a team that chose it (`purge_erases`) the texts of all that was purged are erased as well.
    Safe to run twice at once: each takes what the other does not hold.
    """
    purged, until = 0, None if seconds is None else time.monotonic() + seconds
    for team_id in all_team_ids():
        while until is None or time.monotonic() < until:
            count = _purge_some(team_id, now)
            purged += count
            if count < _AT_ONCE:
                break
        _erase_purged(team_id, until)
    return purged


def _erase_purged(team_id: UUID, until: float | None) -> None:
    erased = 0
    while until is None or time.monotonic() < until:
        with team_scope(team_ids=[team_id], actor=ACTOR):
            team = Team.objects.get(pk=team_id)
            if not LifecycleSettings.usable(team.lifecycle_settings).purge_erases:
                return
            purged = Memory.objects.filter(  # an erasure empties `purge_at` as well
                team_id=team_id, status=Status.PURGED.value, purge_at__isnull=False
            )
            ids = list(purged.values_list("pk", flat=True)[:_AT_ONCE])
        if not ids:
            break
        erased += erase_purged(team_id=team_id, memory_ids=ids, actor=ACTOR)
    if erased:
        forget_statistics(team_id)


@retried
def _purge_some(team_id: UUID, now: datetime) -> int:
    """Purge the next ones of a team; a trigger takes them out of what they are found by."""
    with team_scope(team_ids=[team_id], actor=ACTOR, reason="its time to be restored is over"):
        due = Memory.objects.filter(
            team_id=team_id,
            status=Status.SOFT_DELETED.value,
            purge_at__isnull=False,
            purge_at__lte=now,
        ).order_by("purge_at")
        held = due.select_for_update(skip_locked=True).values_list("pk", flat=True)
        ids = list(held[:_AT_ONCE])
        Memory.objects.filter(team_id=team_id, pk__in=ids).update(status=Status.PURGED.value)
        return len(ids)
