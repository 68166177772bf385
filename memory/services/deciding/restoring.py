"""Bringing back a memory that was taken out of every read."""

from __future__ import annotations

from uuid import UUID

from audit.models import MemoryLog
from memory.domain.audience import Reach
from memory.domain.text import category_key, dedupe_key
from memory.domain.types import Status, Tier
from memory.domain.viewer import Viewer
from memory.models import Memory
from memory.selectors.meeting.comparing import live_facts
from memory.services.deciding.state import locked_memory, settle_tier, what_stands_for
from memory.services.retrying import run_write
from memory.services.writing.readers import filed, readers_in
from memory.services.writing.secrets import masked_note
from memory.services.writing.turns import take_turns
from teams.errors import ConflictError
from teams.tenancy import team_scope

_AWAY = (Status.SOFT_DELETED.value, Status.ARCHIVED.value)


def restore_memory(*, viewer: Viewer, memory_id: UUID, reason: str = "") -> Memory:
    """Make a soft-deleted or archived memory active again; a live one stays as it is.

    One that a newer version had superseded goes back to being that. A pin is not brought back.
    Raises NotFoundError when the viewer may not see it, and ConflictError when the same fact
    stands again by now, or it is an older version, or it was erased.
    """
    # A writer who checks nothing waits for nobody, and may store the same fact meanwhile.
    return run_write(lambda: _restored(viewer, memory_id, reason))


def _restored(viewer: Viewer, memory_id: UUID, reason: str) -> Memory:
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor, reason=masked_note(reason)):
        # As a writer of the same fact would, before the row is held.
        seen = Memory.objects.visible_to(viewer).filter(pk=memory_id).first()
        if seen is not None:
            take_turns([(seen.team_id, seen.end_user_id)])
        memory = locked_memory(viewer=viewer, memory_id=memory_id)
        if memory.is_live:
            return memory
        if memory.status not in _AWAY:
            raise ConflictError(
                f"This version is {memory.status}; {what_stands_for(memory=memory)}."
            )
        _refuse_erased(memory)
        if memory.superseded_by_id is not None:
            memory.status = Status.SUPERSEDED.value
        else:
            _take_key(memory)
            memory.status = Status.ACTIVE.value
            memory.tier = Tier.WARM.value
            settle_tier(memory=memory)
        memory.save(update_fields=["status", "tier", "dedupe_key"])
        return memory


def _refuse_erased(memory: Memory) -> None:
    """Raise ConflictError for a memory that went with a person who was erased."""
    log = MemoryLog.objects.filter(team_id=memory.team_id, memory_id=memory.pk, event="erased")
    if log.exists():
        raise ConflictError("What this memory said was erased for good; nothing can come back.")


def _take_key(memory: Memory) -> None:
    """Let the memory stand as this fact again, beside equal ones that others alone read.

    Raises ConflictError when another live memory says the same to the same readers.
    """
    if memory.dedupe_key is None:
        return
    mine = filed(memory)
    first = dedupe_key(memory.content, mine.audience)
    keys = [first, category_key(first, memory.category)]
    twins = live_facts(team_id=memory.team_id, keys=keys)
    allowlists = readers_in(team_id=memory.team_id).allowlists
    for twin in twins:
        if allowlists.reach(of=filed(twin), beside=mine) is Reach.SAME:
            raise ConflictError(
                f"The same fact stands in {twin.pk}; delete that one first if this is to come back."
            )
    taken = {bytes(twin.dedupe_key or b"") for twin in twins}
    memory.dedupe_key = next((key for key in keys if key not in taken), None)
