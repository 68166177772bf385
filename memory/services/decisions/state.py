"""Changes of a stored memory's state; its text stays as it is."""

from __future__ import annotations

from uuid import UUID

from memory.domain.types import Status, Tier
from memory.domain.viewer import Viewer
from memory.models import Memory
from memory.services.retrying import retried
from memory.services.write.inserting import HOT_IMPORTANCE, may_be_hot
from memory.services.write.marking import release_disputes
from memory.services.write.prior_decisions import ARCHIVED, DELETED
from memory.services.write.secrets import masked_note
from teams.errors import ConflictError, NotFoundError
from teams.tenancy import team_scope


@retried
def pin_memory(*, viewer: Viewer, memory_id: UUID, pinned: bool, reason: str = "") -> Memory:
    """Pin a live memory, so that every prompt of its audience holds it, or let it go again.

    Raises NotFoundError when the viewer may not see it and ConflictError when it is not live.
    """
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor, reason=masked_note(reason)):
        memory = locked_memory(viewer=viewer, memory_id=memory_id)
        if pinned and not memory.is_live:
            raise ConflictError(
                f"A memory that is {memory.status} cannot be pinned;"
                f" {what_stands_for(memory=memory)}."
            )
        if memory.is_pinned != pinned:
            memory.is_pinned = pinned
            settle_tier(memory=memory)
            memory.save(update_fields=["is_pinned", "tier"])
        return memory


@retried
def delete_memory(*, viewer: Viewer, memory_id: UUID, reason: str = "") -> Memory:
    """Take a memory out of every read but its own id; deleting it again changes nothing.

    It turns cold and soft_deleted, its open disputes end, and its text and log stay. Raises
    NotFoundError when the viewer may not see it.
    """
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor, reason=masked_note(reason)):
        memory = locked_memory(viewer=viewer, memory_id=memory_id)
        if memory.status != Status.SOFT_DELETED:
            release_disputes(memory=memory, actor=viewer.actor, note=DELETED)
            memory.status = Status.SOFT_DELETED.value
            memory.tier = Tier.COLD.value
            memory.is_pinned = False
            memory.save(update_fields=["status", "tier", "is_pinned", "contradicts"])
        return memory


@retried
def archive_memory(*, viewer: Viewer, memory_id: UUID, reason: str = "") -> Memory:
    """Put a live memory away: searches that ask for what is past still find it, prompts do not.

    It turns cold and archived, loses its pin, and its open disputes end. Archiving it again changes
    nothing, and it can be restored. Raises NotFoundError when the viewer may not see it and
    ConflictError when it is not live.
    """
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor, reason=masked_note(reason)):
        memory = locked_memory(viewer=viewer, memory_id=memory_id)
        if memory.status == Status.ARCHIVED:
            return memory
        if not memory.is_live:
            raise ConflictError(
                f"A memory that is {memory.status} cannot be archived;"
                f" {what_stands_for(memory=memory)}."
            )
        release_disputes(memory=memory, actor=viewer.actor, note=ARCHIVED)
        memory.status = Status.ARCHIVED.value
        memory.tier = Tier.COLD.value
        memory.is_pinned = False
        memory.save(update_fields=["status", "tier", "is_pinned", "contradicts"])
        return memory


def settle_tier(*, memory: Memory) -> None:
    """Let the tier of a live memory follow its pin and importance; the caller saves it.

    Hot is what is pinned or has an importance of 9 or more. A cold memory that is neither stays
    where it is.
    """
    if not memory.is_live:
        return
    is_wanted = memory.is_pinned or memory.importance >= HOT_IMPORTANCE
    if is_wanted and may_be_hot(memory.memory_type):
        memory.tier = Tier.HOT.value
    elif memory.tier == Tier.HOT:
        memory.tier = Tier.WARM.value


def what_stands_for(*, memory: Memory) -> str:
    """In words, what took the place of a memory that is not live: the end of its chain."""
    after, known = memory, {memory.pk}
    while after.superseded_by_id is not None and after.superseded_by_id not in known:
        known.add(after.superseded_by_id)
        after = Memory.objects.get(team_id=memory.team_id, pk=after.superseded_by_id)
        if after.is_live:
            return f"what stands now is {after.pk}"
    if after.pk == memory.pk:
        return "nothing took its place"
    return f"what took its place, {after.pk}, is {after.status} as well"


def locked_memory(*, viewer: Viewer, memory_id: UUID) -> Memory:
    """The memory, its row held until the transaction ends; NotFoundError when invisible.

    What only refers to it, as its counters and links do, is written meanwhile: a flush of counters
    that waited for this row would hold those that feedback asks for next.
    """
    memory: Memory | None = (
        Memory.objects.visible_to(viewer)
        .with_names()
        .select_for_update(of=("self",), no_key=True)
        .filter(pk=memory_id)
        .first()
    )
    if memory is None:
        raise NotFoundError("There is no such memory.")
    return memory
