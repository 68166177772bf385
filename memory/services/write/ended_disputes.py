"""Disputes that end because one of their sides leaves the live memories."""

from __future__ import annotations

from django.db.models import Q
from django.utils import timezone

from memory.domain.types import Status
from memory.models import Contradiction, Memory

# Why a dispute ended that nobody decided.
DELETED = "the other side was deleted"
SUPERSEDED = "superseded by a newer memory"
LOST = "the other side of it lost"


def release_disputes(*, memory: Memory, actor: str, note: str) -> None:
    """End the open disputes of a memory that leaves the live ones: the other side stands.

    A memory left without any dispute is active again. The caller saves `memory`.
    """
    still_open = Contradiction.objects.filter(team_id=memory.team_id, resolved_at=None)
    # The other side may name this one without being named by it.
    about = still_open.filter(Q(memory_a=memory) | Q(memory_b=memory))
    pairs = list(about.values_list("memory_a_id", "memory_b_id"))
    partners = {pk for pair in pairs for pk in pair if pk}
    others = {
        row.pk: row
        for row in Memory.objects.select_for_update()
        .filter(team_id=memory.team_id, pk__in={*memory.contradicts, *partners} - {memory.pk})
        .order_by("pk")
    }
    for other in others.values():
        other.contradicts = [each for each in other.contradicts if each != memory.pk]
        settle_status(memory=other)
    memory.contradicts = []
    if not pairs:
        return
    now = timezone.now()
    settled = {"resolution_note": note, "resolved_by": actor, "resolved_at": now}
    still_open.filter(memory_a=memory).update(resolution="b_wins", **settled)
    still_open.filter(memory_b=memory).update(resolution="a_wins", **settled)


def settle_status(*, memory: Memory) -> None:
    """Make a memory active again unless it contradicts another or is said to be wrong; save it.

    Pin, importance and tier are saved as the caller has them.
    """
    if memory.status == Status.DISPUTED and not memory.contradicts:
        said_wrong = Contradiction.objects.filter(
            team_id=memory.team_id, memory_a=memory, memory_b=None, resolved_at=None
        )
        if not said_wrong.exists():
            memory.status = Status.ACTIVE.value
    memory.save(update_fields=["status", "contradicts", "is_pinned", "importance", "tier"])
