"""Confirms and rejects unconfirmed memories, and undoes that."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from memory.domain.audience import Viewer
from memory.domain.types import Status
from memory.models import Memory
from memory.satellites.confirmation.models import Confirmation
from memory.selectors.history.log import LogMark, LogRange, changes_in
from memory.understanding.tools import Tools
from memory.writing.background import retried, run_write
from memory.writing.conflicts import DELETED, UNDONE
from memory.writing.consent import consent
from memory.writing.decisions.changes import locked_memory
from memory.writing.decisions.moving import confirm_memory
from memory.writing.decisions.undoing import (
    later_changes,
    locked_as_now,
    refuse_changed,
    take_back,
)
from memory.writing.rows import release_disputes, retire, save_marks
from memory.writing.secrets import masked_note
from teams.errors import ConflictError, ForbiddenError
from teams.tenancy import team_scope

_Decision = Confirmation.Decision
_DECIDED = ("decision", "decided_by", "decided_at", "commit_id", "first_seq", "last_seq")


def _check_person(viewer: Viewer) -> None:
    if viewer.agent_id is not None:
        raise ForbiddenError("An agent cannot confirm a memory: use a key of the team.")


@dataclass(frozen=True, slots=True)
class _Decided:
    """Records a decision with what the log says of it."""

    viewer: Viewer
    decision: Confirmation.Decision
    now: datetime

    def __call__(self, memory: Memory, written: LogRange | None) -> None:
        Confirmation.objects.update_or_create(
            team_id=memory.team_id,
            memory_id=memory.pk,
            defaults={
                "decision": self.decision,
                "decided_by": self.viewer.actor,
                "decided_at": self.now,
                "commit_id": written.commit_id if written else None,
                "first_seq": written.first if written else None,
                "last_seq": written.last if written else None,
            },
        )


def confirm(
    *, viewer: Viewer, memory_id: UUID, tools: Tools, now: datetime, note: str = ""
) -> Memory:
    """Confirms a memory: from now on a person vouches for it.

    Call it outside any transaction. Raises ForbiddenError for an agent, and what `confirm_memory`
    raises.
    """
    _check_person(viewer)
    return confirm_memory(
        viewer=viewer,
        memory_id=memory_id,
        tools=tools,
        note=_Decided(viewer, _Decision.CONFIRMED, now),
        reason=note,
    )


@retried
def reject(*, viewer: Viewer, memory_id: UUID, now: datetime, note: str = "") -> Memory:
    """Soft-deletes an unconfirmed memory.

    Raises NotFoundError when the viewer may not see it, ConflictError when it is confirmed or not
    live, and ForbiddenError for an agent.
    """
    _check_person(viewer)
    note = masked_note(note)
    why = "rejected" + (f": {note}" if note else "")
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor, reason=why):
        memory = locked_memory(viewer=viewer, memory_id=memory_id)
        if not (memory.is_unconfirmed and memory.is_live):
            state = memory.status if memory.is_unconfirmed else "confirmed"
            raise ConflictError(f"There is nothing to reject: the memory is {state}.")
        consent().check_settled(viewer=viewer, memory=memory, is_replaced=False)
        mark = LogMark(team_id=memory.team_id)
        retire(memory=memory, status=Status.SOFT_DELETED, actor=viewer.actor, note=DELETED)
        written = mark.written(locked=[memory.pk])
        _Decided(viewer, _Decision.REJECTED, now)(memory, written)
        return memory


def undo(*, viewer: Viewer, memory_id: UUID) -> Memory:
    """Undoes a confirmation or rejection: the memory is as before, and waits again.

    Raises NotFoundError when the viewer may not see it, ConflictError where nothing was decided,
    ChangedSinceError where memories changed since, and ForbiddenError for an agent.
    """
    _check_person(viewer)
    return run_write(lambda: _undone(viewer, memory_id))


def _undone(viewer: Viewer, memory_id: UUID) -> Memory:
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor, reason="decision undone"):
        memory = locked_memory(viewer=viewer, memory_id=memory_id)
        rows = Confirmation.objects.select_for_update().filter(team_id=memory.team_id)
        row = rows.filter(memory_id=memory.pk).first()
        if row is None or row.commit_id is None or row.first_seq is None or row.last_seq is None:
            raise ConflictError("There is no decision to undo.")
        written = LogRange(row.team_id, row.commit_id, row.first_seq, row.last_seq)
        changes = changes_in(ranges=[written])
        memories = locked_as_now(team_id=row.team_id, changes=changes)
        found = later_changes(team_id=row.team_id, changes=changes, memories=memories)
        refuse_changed(viewer=viewer, found=found, since="it was decided")
        if row.decision == _Decision.CONFIRMED:
            # It was in no dispute before.
            release_disputes(memory=memories[memory.pk], actor=viewer.actor, note=UNDONE)
            save_marks([memories[memory.pk]])
        take_back(team_id=row.team_id, actor=viewer.actor, changes=changes, memories=memories)
        row.decision, row.decided_by, row.decided_at = "", "", None
        row.commit_id = row.first_seq = row.last_seq = row.snoozed_until = None
        row.save(update_fields=[*_DECIDED, "snoozed_until"])
        return Memory.objects.with_names().get(team_id=row.team_id, pk=memory.pk)


def snooze(*, viewer: Viewer, memory_id: UUID, until: datetime | None) -> None:
    """Hides an unconfirmed memory from the inbox until then, with None no longer.

    Raises NotFoundError when the viewer may not see it and ConflictError when it was decided.
    """
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        memory = locked_memory(viewer=viewer, memory_id=memory_id)
        if not memory.is_unconfirmed:
            raise ConflictError("It is confirmed already.")
        Confirmation.objects.update_or_create(
            team_id=memory.team_id, memory_id=memory.pk, defaults={"snoozed_until": until}
        )
