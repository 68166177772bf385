"""Approves, rejects, expires and undoes consent requests."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from uuid import UUID

from django.db.models import Q

from memory.domain.audience import Viewer
from memory.domain.profile_fields import field_of, filed_subject, matter_of
from memory.domain.types import MemoryType, Scope
from memory.models import Memory
from memory.satellites.consent.effects import drafts_of_kept, effects_of
from memory.satellites.consent.models import ConsentRequest
from memory.satellites.consent.proposals import LIFETIME, draft_from_json, note_requests
from memory.satellites.consent.selectors import requests_visible_to
from memory.satellites.consent.values import keep_parts, locked_parts
from memory.selectors.history.log import Change, LogMark, LogRange, changes_in
from memory.understanding.tools import Tools
from memory.writing.background import retried, run_write
from memory.writing.decisions.moving import Move, move_memory
from memory.writing.decisions.undoing import later_changes, locked_as_now, refuse_changed, take_back
from memory.writing.drafts import MemoryDraft
from memory.writing.secrets import masked_note
from memory.writing.write_path import lock_owners, prepare, store
from teams.errors import ConflictError, ForbiddenError, NotFoundError
from teams.services.people import all_team_ids
from teams.tenancy import team_scope

_OPS = {
    ConsentRequest.State.APPROVED: "approve",
    ConsentRequest.State.REJECTED: "reject",
    ConsentRequest.State.EXPIRED: "expire",
}
DECIDED = (
    "state",
    "decided_by",
    "decided_at",
    "note",
    "memory",
    "present",
    "commit_id",
    "first_seq",
    "last_seq",
)


def decide(
    row: ConsentRequest,
    state: ConsentRequest.State,
    *,
    actor: str,
    now: datetime,
    note: str = "",
    written: LogRange | None = None,
) -> None:
    """Keep the decision and record it as an event; call it in the transaction that carries it out.

    What the caller set as `memory` and `present` is kept with it, and what was `written` for it, so
    that it can be undone.
    """
    row.state = state
    row.decided_by = actor
    row.decided_at = now
    row.note = note
    if written is not None:
        row.commit_id = written.commit_id
        row.first_seq, row.last_seq = written.first, written.last
    row.save(update_fields=DECIDED)
    note_requests(op=_OPS[state], requests=[row])


def close_given(*, memory: Memory, actor: str, now: datetime, written: LogRange | None) -> None:
    """Approve what asked whether the team may know a memory, once somebody gave it to the team.

    Call it in the transaction that did, with what that wrote.
    """
    rows = ConsentRequest.objects.select_for_update().filter(
        team_id=memory.team_id,
        memory=memory,
        kind=ConsentRequest.Kind.TEAM_PREFERENCE,
        state=ConsentRequest.State.WAITING,
    )
    for row in rows:
        decide(row, ConsentRequest.State.APPROVED, actor=actor, now=now, written=written)


State = ConsentRequest.State
ACTOR = "task:consent"
MAX_NOTE = 2000


def approve_request(
    *, viewer: Viewer, request_id: UUID, tools: Tools, now: datetime, note: str = ""
) -> ConsentRequest:
    """Say yes: the proposed value is written in place of what says the field now, and nothing else.

    What else a replaced memory says is kept as a memory of its own. A preference of the team is
    given to the team; a workflow or a fact of the team is written as
    proposed. Raises NotFoundError where the viewer may not see the request, ConflictError where it
    was decided or has expired or where fewer than two people still state a fact, and ForbiddenError
    for whoever proposed it. Call it outside any transaction.
    """
    note = masked_note(note)
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        seen = _waiting(viewer, request_id, now)
        effects = effects_of(seen)
        kept = [draft for each in effects for draft in drafts_of_kept(each)]
    if seen.kind == ConsentRequest.Kind.TEAM_PREFERENCE and seen.present_id is None:
        return _give_to_team(viewer, seen, tools, now, note)
    draft = _agreed_draft(seen)
    (prepared, *rests) = prepare(drafts=[draft, *kept], tools=tools)

    def write() -> ConsentRequest:
        reason = _reason(f"consent given: {seen.field}", note)
        with team_scope(team_ids=[viewer.team_id], actor=viewer.actor, reason=reason):
            lock_owners([(draft.team_id, draft.end_user_id)])
            row = _waiting(viewer, request_id, now, is_locked=True)
            is_of_team = row.kind == ConsentRequest.Kind.TEAM_FACT
            parts = locked_parts(row) if is_of_team else []
            if effects_of(row) != effects:
                raise ConflictError("What stands was changed meanwhile. Look at it again.")
            if effects:
                row.present = effects[0].memory
            replaces = tuple(each.memory.pk for each in effects)
            item = replace(prepared, draft=replace(draft, replaces=replaces))
            mark = LogMark(team_id=row.team_id)
            (result, *_) = store(viewer=viewer, prepared=[item, *rests], tools=tools)
            row.memory = result.memory
            keep_parts(fact=result.memory, parts=parts)
            written = mark.written(locked=[*replaces, result.memory.pk])
            decide(row, State.APPROVED, actor=viewer.actor, now=now, note=note, written=written)
            if row.kind != ConsentRequest.Kind.PROFILE_FIELD:
                return row
            # What else waits for this field would change the new value.
            same_readers = Q(agent_id=row.agent_id) if row.agent_id else Q(agent_id__isnull=True)
            ConsentRequest.objects.filter(
                same_readers,
                team_id=row.team_id,
                end_user_id=row.end_user_id,
                kind=row.kind,
                field=row.field,
                state=State.WAITING,
            ).update(present=result.memory)
            return row

    return run_write(write)


@retried
def reject_request(
    *, viewer: Viewer, request_id: UUID, now: datetime, note: str = ""
) -> ConsentRequest:
    """Say no: what stands stays, and the same value from the same messages is not asked again.

    Raises as `approve_request`.
    """
    note = masked_note(note)
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        row = _waiting(viewer, request_id, now, is_locked=True)
        decide(row, State.REJECTED, actor=viewer.actor, now=now, note=note)
        return row


def expire_requests(*, now: datetime) -> int:
    """End the requests of all teams whose time is over; returns how many."""
    expired = 0
    for team_id in all_team_ids():
        with team_scope(team_ids=[team_id], actor=ACTOR):
            rows = list(
                ConsentRequest.objects.select_for_update(skip_locked=True).filter(
                    team_id=team_id, state=State.WAITING, expires_at__lte=now
                )
            )
            for row in rows:
                decide(row, State.EXPIRED, actor=ACTOR, now=now)
        expired += len(rows)
    return expired


def _give_to_team(
    viewer: Viewer, seen: ConsentRequest, tools: Tools, now: datetime, note: str
) -> ConsentRequest:
    assert seen.memory_id is not None
    move_memory(
        viewer=viewer,
        memory_id=seen.memory_id,
        move=Move(scope=Scope.TEAM, is_agreed=True),
        tools=tools,
        reason=_reason("consent given: for the whole team", note),
    )
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        row = ConsentRequest.objects.select_for_update().get(team_id=seen.team_id, pk=seen.pk)
        if row.is_waiting:
            decide(row, State.APPROVED, actor=viewer.actor, now=now, note=note)
        return row


def _waiting(
    viewer: Viewer, request_id: UUID, now: datetime, *, is_locked: bool = False
) -> ConsentRequest:
    """The request, if the viewer may decide it now; call it in scope."""
    row = decidable(viewer, request_id, is_locked=is_locked)
    if not row.is_waiting:
        raise ConflictError(f"It is {row.state} already, by {row.decided_by}.")
    if row.expires_at <= now:
        raise ConflictError("It has expired: nobody said yes within seven days.")
    return row


def decidable(viewer: Viewer, request_id: UUID, *, is_locked: bool) -> ConsentRequest:
    """The request, if it is the viewer's to decide, whatever its state; call it in scope.

    Raises NotFoundError where the viewer may not see it and ForbiddenError where others decide it.
    """
    row = requests_visible_to(viewer).filter(pk=request_id).first()
    if row is None:
        raise NotFoundError("There is no such consent request.")
    if is_locked:
        rows = ConsentRequest.objects.select_for_update(of=("self",))
        row = rows.select_related("end_user", "present").get(team_id=row.team_id, pk=row.pk)
    is_of_team = row.end_user_id is None and row.kind != ConsentRequest.Kind.WORKFLOW
    if is_of_team and viewer.agent_id is not None:
        raise ForbiddenError("What the whole team is told is decided with a key of the team.")
    if row.proposed_by == viewer.actor:
        raise ForbiddenError("Who proposed a change cannot decide it; somebody else has to.")
    return row


def _agreed_draft(row: ConsentRequest) -> MemoryDraft:
    """What a yes writes: filed under the field, also where it was told as something else."""
    if row.kind in (ConsentRequest.Kind.WORKFLOW, ConsentRequest.Kind.TEAM_FACT):
        return replace(draft_from_json(row.draft), needs_consent=False)
    draft = replace(draft_from_json(row.draft), needs_consent=False, is_agreed=True)
    if row.kind == ConsentRequest.Kind.TEAM_PREFERENCE:
        return draft
    field = field_of(row.field)
    if matter_of(memory_type=draft.memory_type, subject=draft.subject, fields=(field,)):
        return draft
    subject = filed_subject(memory_type="", subject="", sensitive_field=row.field)
    if draft.memory_type is MemoryType.AGENT_PRIVATE:
        return replace(draft, subject=subject)
    return replace(draft, subject=subject, memory_type=MemoryType.USER_PROFILE, project_id=None)


def _reason(what: str, note: str) -> str:
    return f"{what} ({note})" if note else what


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
