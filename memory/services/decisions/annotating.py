"""What is noted of a memory beside its text: its tags, and until when it holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from memory.domain.types import MAX_TAG_CHARS
from memory.domain.viewer import Viewer
from memory.models import Memory
from memory.services.decisions.state import locked_memory, what_stands_for
from memory.services.retrying import retried
from memory.services.write.consent import consent
from memory.services.write.secrets import masked_note
from teams.errors import ConflictError, InvalidError
from teams.tenancy import team_scope


@dataclass(frozen=True, slots=True)
class Notes:
    """What changes: `tags` are made of the tags that there are, None leaves them.

    With `sets_end` the memory holds until `valid_to`, None for no end.
    """

    tags: Callable[[Sequence[str]], Sequence[str]] | None = None
    sets_end: bool = False
    valid_to: datetime | None = None


@retried
def annotate_memory(*, viewer: Viewer, memory_id: UUID, notes: Notes, reason: str = "") -> Memory:
    """Change the tags of a live memory or until when it holds; secrets in tags are masked.

    Raises NotFoundError when the viewer may not see it, ConflictError when it is not live,
    InvalidError for an end before the memory begins to hold, and ForbiddenError where an agent ends
    a preference of the team.
    """
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor, reason=masked_note(reason)):
        memory = locked_memory(viewer=viewer, memory_id=memory_id)
        if not memory.is_live:
            raise ConflictError(
                f"This version is {memory.status}; {what_stands_for(memory=memory)}."
            )
        if notes.tags is not None:
            memory.tags = [masked_note(tag, most=MAX_TAG_CHARS) for tag in notes.tags(memory.tags)]
        if notes.sets_end and notes.valid_to != memory.valid_to:
            consent().check_settled(viewer=viewer, memory=memory, is_replaced=False)
            start = memory.valid_from
            if start is not None and notes.valid_to is not None and notes.valid_to < start:
                raise InvalidError("Must not be before valid_from.", field="valid_to")
            memory.valid_to = notes.valid_to
        memory.save(update_fields=["tags", "valid_to"])
        return memory
