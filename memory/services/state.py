"""Changes of a stored memory's state; its text stays as it is."""

from __future__ import annotations

from uuid import UUID

from memory.domain.types import Status, Tier
from memory.domain.viewer import Viewer
from memory.models import Memory
from memory.services.conflicts import release_disputes
from memory.services.write_path import HOT_IMPORTANCE
from teams.errors import ConflictError, NotFoundError
from teams.tenancy import team_scope


def pin_memory(*, viewer: Viewer, memory_id: UUID, pinned: bool, reason: str = "") -> Memory:
    """Pin a live memory, so that every prompt of its audience holds it, or let it go again.

    Raises NotFoundError when the viewer may not see it and ConflictError when it is not live.
    """
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor, reason=reason):
        memory = locked_memory(viewer=viewer, memory_id=memory_id)
        if pinned and not memory.is_live:
            raise ConflictError(
                f"A memory that is {memory.status} cannot be pinned; pin its current version."
            )
        if memory.is_pinned != pinned:
            memory.is_pinned = pinned
            if memory.is_live:
                stays_hot = pinned or memory.importance >= HOT_IMPORTANCE
                memory.tier = (Tier.HOT if stays_hot else Tier.WARM).value
            memory.save(update_fields=["is_pinned", "tier"])
        return memory


def delete_memory(*, viewer: Viewer, memory_id: UUID, reason: str = "") -> Memory:
    """Take a memory out of every read but its own id; deleting it again changes nothing.

    It turns cold and soft_deleted, its open disputes end, and its text and log stay. Raises
    NotFoundError when the viewer may not see it.
    """
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor, reason=reason):
        memory = locked_memory(viewer=viewer, memory_id=memory_id)
        if memory.status != Status.SOFT_DELETED:
            release_disputes(memory=memory, actor=viewer.actor, note="the other side was deleted")
            memory.status = Status.SOFT_DELETED.value
            memory.tier = Tier.COLD.value
            memory.is_pinned = False
            memory.save(update_fields=["status", "tier", "is_pinned", "contradicts"])
        return memory


def locked_memory(*, viewer: Viewer, memory_id: UUID) -> Memory:
    """The memory, its row held until the transaction ends; NotFoundError when invisible."""
    memory: Memory | None = (
        Memory.objects.visible_to(viewer)
        .with_names()
        .select_for_update(of=("self",))
        .filter(pk=memory_id)
        .first()
    )
    if memory is None:
        raise NotFoundError("There is no such memory.")
    return memory
