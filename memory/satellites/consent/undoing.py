"""Undoing a decision on a consent request: it waits again, and all that a yes changed is back."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from memory.domain.audience import Viewer
from memory.satellites.consent.deciding import decidable
from memory.satellites.consent.marking import DECIDED
from memory.satellites.consent.models import ConsentRequest
from memory.satellites.consent.proposals import note_requests
from memory.satellites.consent.signals import LIFETIME
from memory.selectors.history.log import Change, LogRange, changes_in
from memory.services.decisions.undoing import (
    later_changes,
    locked_as_now,
    refuse_changed,
    take_back,
)
from memory.services.retrying import run_write
from memory.services.write.secrets import masked_note
from teams.errors import ConflictError
from teams.tenancy import team_scope

_STATES = ConsentRequest.State
_KINDS = ConsentRequest.Kind


def undo_decision(
    *, viewer: Viewer, request_id: UUID, now: datetime, note: str = ""
) -> ConsentRequest:
    """Undo an approval or a rejection; the request waits for another week.

    Memories that a yes changed are as before, and those that it wrote are deleted. Raises
    NotFoundError and ForbiddenError as deciding does, ConflictError where it was not decided or the
    same is asked again, and ChangedSinceError where memories changed since.
    """
    note = masked_note(note)
    return run_write(lambda: _undo(viewer, request_id, now, note))


def _undo(viewer: Viewer, request_id: UUID, now: datetime, note: str) -> ConsentRequest:
    reason = "consent undone" + (f" ({note})" if note else "")
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor, reason=reason):
        changes = _changes(_decided(viewer, request_id))
        memories = locked_as_now(team_id=viewer.team_id, changes=changes)
        row = _decided(viewer, request_id, is_locked=True)
        found = later_changes(team_id=viewer.team_id, changes=changes, memories=memories)
        refuse_changed(viewer=viewer, found=found, since="it was decided")
        take_back(team_id=viewer.team_id, actor=viewer.actor, changes=changes, memories=memories)
        if row.memory_id is not None and row.kind == _KINDS.PROFILE_FIELD:
            others = ConsentRequest.objects.filter(team_id=row.team_id, state=_STATES.WAITING)
            others.filter(present_id=row.memory_id).update(present=row.present)
        if row.kind != _KINDS.TEAM_PREFERENCE or row.present_id is not None:
            row.memory = None
        row.state, row.decided_by, row.decided_at, row.note = _STATES.WAITING, "", None, ""
        row.commit_id = row.first_seq = row.last_seq = None
        row.expires_at = now + LIFETIME
        row.save(update_fields=[*DECIDED, "expires_at"])
        note_requests(op="undo", requests=[row])
        return row


def _decided(viewer: Viewer, request_id: UUID, *, is_locked: bool = False) -> ConsentRequest:
    row = decidable(viewer, request_id, is_locked=is_locked)
    if row.state not in (_STATES.APPROVED, _STATES.REJECTED):
        raise ConflictError(f"There is no decision to undo: it is {row.state}.")
    if row.state == _STATES.APPROVED and row.commit_id is None:
        raise ConflictError("Nothing was kept by which it could be undone.")
    again = ConsentRequest.objects.filter(
        team_id=row.team_id,
        kind=row.kind,
        field=row.field,
        end_user_id=row.end_user_id,
        agent=row.agent,
        value_key=row.value_key,
        state=_STATES.WAITING,
    )
    if again.exists():
        raise ConflictError("The same is asked again by another request that waits.")
    return row


def _changes(row: ConsentRequest) -> list[Change]:
    """The changes that the yes made to each memory, from the log; none for a no."""
    if row.commit_id is None or row.first_seq is None or row.last_seq is None:
        return []
    return changes_in(ranges=[LogRange(row.team_id, row.commit_id, row.first_seq, row.last_seq)])
