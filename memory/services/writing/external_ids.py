"""A caller's own names of memories: what stands under one already, and when it is refused."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from memory.domain.types import Status
from memory.domain.viewer import Viewer
from memory.models import Memory
from memory.services.writing.drafts import MemoryDraft
from memory.services.writing.readers import Readers, readers_in
from teams.errors import ConflictError

# External ids are each agent's own, so that none can be used to ask for another's memory.
ExternalKey = tuple[UUID | None, str | None]


class DraftRefusedError(ConflictError):
    """The draft at `index` of a write fights with what is stored; nothing of it was written."""

    def __init__(self, message: str, *, field: str, index: int) -> None:
        super().__init__(message, field=field)
        self.index = index


def external_key(draft: MemoryDraft) -> ExternalKey:
    """Under what a memory with the draft's external id stands."""
    return draft.agent_id, draft.external_id


def stored_external_ids(
    *, viewer: Viewer, drafts: Sequence[MemoryDraft]
) -> dict[ExternalKey, Memory]:
    """The memories, of any status, that bear an external id of one of the drafts."""
    wanted = {draft.external_id for draft in drafts if draft.external_id}
    if not wanted:
        return {}
    rows = Memory.objects.filter(team_id=viewer.team_id, external_id__in=wanted)
    return {(row.agent_id, row.external_id): row for row in rows}


def refuse_taken_ids(*, viewer: Viewer, drafts: Sequence[MemoryDraft]) -> None:
    """`refuse_taken` for each draft, as far as can be known before the write."""
    stored = stored_external_ids(viewer=viewer, drafts=drafts)
    if not stored:
        return
    readers = readers_in(team_id=viewer.team_id, agent_id=viewer.agent_id)
    for index, draft in enumerate(drafts):
        existing = stored.get(external_key(draft)) if draft.external_id else None
        if existing is not None:
            refuse_taken(draft=draft, existing=existing, index=index, readers=readers)


def refuse_taken(*, draft: MemoryDraft, existing: Memory, index: int, readers: Readers) -> None:
    """Raise DraftRefusedError where the draft cannot be a repetition of what has its id.

    That is so for a memory about somebody else, for one in a category that the writer may not read
    and, unless the draft `accepts_deleted`, for one that was deleted.
    """
    if not readers.may_meet(existing, draft):
        message = f"The external_id '{draft.external_id}' is taken; send this with another one."
    elif existing.status == Status.SOFT_DELETED and not draft.accepts_deleted:
        message = (
            f"The memory of the external_id '{draft.external_id}' was deleted. Restore that"
            f" one ({existing.pk}) or send this with another external_id."
        )
    elif existing.end_user_id != draft.end_user_id:
        message = f"The external_id '{draft.external_id}' is a memory about somebody else."
    else:
        return
    raise DraftRefusedError(message, field="external_id", index=index)
