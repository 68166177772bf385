"""What stands in the way of taking a settlement back: memories that changed after it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Q

from audit.models import MemoryLog
from memory.models import Contradiction, Memory, Settlement
from memory.models.memory import LIVE

_CHAIN = {
    "superseded_by_id": "has another successor now",
    "supersedes_id": "replaces another memory now",
    "version": "has another version number now",
}

State = Mapping[str, Any]  # Any: a memory's columns as the log has them


@dataclass(frozen=True, slots=True)
class Change:
    """What a settlement did to a memory: its states before, None for a new one, and after.

    `seq` is the number of the last log row that the settlement wrote about it.
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
        """Whether taking it back makes the memory live again."""
        before, after = self.states
        return before["status"] in LIVE and after["status"] not in LIVE


def later_changes(
    *, settlement: Settlement, changes: Sequence[Change], memories: Mapping[UUID, Memory]
) -> list[tuple[Memory, str]]:
    """The memories that are not as the settlement left them, each with how it differs in words.

    A memory may meanwhile be in other disputes, pinned, or rated anew: that stays and is no
    hindrance. Call it in the team's scope, with the memories locked.
    """
    found: dict[UUID, tuple[Memory, str]] = {}
    ids = [each.memory_id for each in changes]
    erased = MemoryLog.objects.filter(
        team_id=settlement.team_id, memory_id__in=ids, event="erased"
    ).values_list("memory_id", flat=True)
    for memory_id in erased:
        found[memory_id] = memories[memory_id], "was erased for good"
    for change in changes:
        memory = memories[change.memory_id]
        if how := _difference(memory, change):
            found.setdefault(memory.pk, (memory, how))
    for memory in _twins(settlement, changes, memories):
        found.setdefault(memory.pk, (memory, "says the same as one that would come back"))
    for memory in _asked_again(settlement):
        found.setdefault(memory.pk, (memory, "is in the same dispute again"))
    return list(found.values())


def _difference(memory: Memory, change: Change) -> str:
    after = change.after
    if memory.status != after["status"] and not (memory.is_live and after["status"] in LIVE):
        return f"is {memory.get_status_display().replace('_', ' ')} now"
    if change.before is None:
        return ""
    if change.before["is_pinned"] != after["is_pinned"] != memory.is_pinned:
        return "was pinned or unpinned since"
    for name, words in _CHAIN.items():
        now = getattr(memory, name)
        if change.before[name] != after[name] and _as_stored(now) != after[name]:
            return words
    return ""


def _as_stored(value: object) -> object:
    return str(value) if isinstance(value, UUID) else value


def _twins(
    settlement: Settlement, changes: Sequence[Change], memories: Mapping[UUID, Memory]
) -> list[Memory]:
    """Live memories with the words of one that would come back; there is room for one alone."""
    back = [each.memory_id for each in changes if each.before is not None and each.is_back]
    keys = [memories[pk].dedupe_key for pk in back if memories[pk].dedupe_key is not None]
    going = [each.memory_id for each in changes if each.before is None]
    if not keys:
        return []
    rows = Memory.objects.filter(
        team_id=settlement.team_id, dedupe_key__in=keys, dedupe_key__isnull=False, status__in=LIVE
    )
    return list(rows.exclude(pk__in=going))


def _asked_again(settlement: Settlement) -> list[Memory]:
    """The first sides of open contradictions of the same sides as those that would open again."""
    mine = Contradiction.objects.filter(
        team_id=settlement.team_id, pk__in=[settlement.contradiction_id, *settlement.ended]
    )
    same = Q()
    for row in mine:
        if row.resolved_at is not None:
            same |= Q(memory_a_id=row.memory_a_id, memory_b_id=row.memory_b_id)
    if not same:
        return []
    rows = Contradiction.objects.filter(same, team_id=settlement.team_id, resolved_at=None)
    return [row.memory_a for row in rows.select_related("memory_a")]
