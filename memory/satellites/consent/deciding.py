"""Approves, rejects, expires and undoes consent requests."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from memory.domain.audience import TEAM_WIDE, Viewer
from memory.domain.profile_fields import CORE_FIELDS, field_of, filed_subject, matter_of
from memory.domain.types import MemoryType, Scope, Source
from memory.models import Memory
from memory.satellites.consent.models import ConsentRequest
from memory.satellites.consent.proposals import (
    LIFETIME,
    draft_of,
    note_requests,
    requests_visible_to,
)
from memory.satellites.consent.team_facts import facts_resting_on, keep_parts, locked_parts
from memory.satellites.consent.values import field_of_text, texts_beside
from memory.selectors.history.log import Change, LogMark, LogRange, changes_in
from memory.selectors.people import present_values
from memory.understanding.tools import Tools
from memory.writing.background import retried, run_write
from memory.writing.decisions.changes import delete_memory
from memory.writing.decisions.moving import Move, move_memory
from memory.writing.decisions.undoing import later_changes, locked_as_now, refuse_changed, take_back
from memory.writing.drafts import MemoryDraft, draft_of_version
from memory.writing.secrets import masked_note
from memory.writing.write_path import lock_owners, prepare, store
from teams.errors import ConflictError, ForbiddenError, NotFoundError
from teams.models import Conversation
from teams.services.people import all_team_ids
from teams.tenancy import team_scope

ACTOR = "task:consent"
MAX_NOTE = 2000
_CONFIDED = "told in confidence"
_State, _Kind = ConsentRequest.State, ConsentRequest.Kind
_DECIDED = [
    *("state", "decided_by", "decided_at", "note"),
    *("present", "memory", "commit_id", "first_seq", "last_seq"),
]
_OPS = {_State.APPROVED: "approve", _State.REJECTED: "reject", _State.EXPIRED: "expire"}


@dataclass(frozen=True, slots=True)
class Effect:
    """A memory that a yes replaces, and what of its text is kept, each as a new memory."""

    memory: Memory
    kept: tuple[str, ...] = ()


def effects_of(row: ConsentRequest) -> list[Effect]:
    """Returns the memories that a yes replaces, the latest first; call it in the team's scope.

    What a memory says beside the field of the request is kept, unless the request corrects that
    very memory. A memory of another field that does not say the one of the request stays.
    """
    if row.kind == _Kind.TEAM_PREFERENCE:
        return [Effect(row.present)] if row.present and row.present.is_live else []
    if row.kind != _Kind.PROFILE_FIELD:
        return []
    draft, field = draft_of(row), field_of(row.field)
    effects = []
    for memory in _told(row, draft):
        is_corrected = memory.pk in draft.replaces
        kept = () if is_corrected else tuple(texts_beside(memory.content, field=field))
        is_of_field = matter_of(
            memory_type=memory.memory_type, subject=memory.subject, fields=(field,)
        )
        if is_corrected or is_of_field or kept:
            effects.append(Effect(memory, kept))
    return effects


def _told(row: ConsentRequest, draft: MemoryDraft) -> list[Memory]:
    assert row.end_user_id is not None
    rows = present_values(
        team_id=row.team_id,
        end_user_id=row.end_user_id,
        matter=row.field,
        fields=(field_of(row.field),),
        agent_id=draft.owner.agent_id,
    )
    known = {each.pk for each in rows}
    named = {each for each in (row.present_id, *draft.replaces) if each and each not in known}
    return [*rows, *Memory.objects.live().filter(team_id=row.team_id, pk__in=named).order_by("pk")]


def _drafts_of_kept(effect: Effect) -> Iterator[MemoryDraft]:
    memory = effect.memory
    for text in effect.kept:
        draft = draft_of_version(
            memory=memory, content=text, extractor=memory.extractor, now=memory.created_at
        )
        field = field_of_text(text)
        is_profile = draft.memory_type is MemoryType.USER_PROFILE
        yield replace(
            draft,
            subject=filed_subject(memory_type="", subject="", sensitive_field=field),
            memory_type=MemoryType.SEMANTIC if is_profile and not field else draft.memory_type,
            # Of each field one memory is pinned.
            is_pinned=field in CORE_FIELDS and not _values(memory, field),
            replaces=(),
            needs_consent=False,
            is_agreed=True,
        )


def _values(memory: Memory, field: str) -> list[Memory]:
    assert memory.end_user_id is not None
    return present_values(
        team_id=memory.team_id,
        end_user_id=memory.end_user_id,
        matter=field,
        fields=(field,),
        agent_id=None if memory.memory_type in TEAM_WIDE else memory.agent_id,
    )


def approve_request(
    *, viewer: Viewer, request_id: UUID, tools: Tools, now: datetime, note: str = ""
) -> ConsentRequest:
    """Writes the proposed value in place of what says the field now, and changes nothing else.

    What else a replaced memory says is kept as a memory of its own. A preference of the team is
    given to the team; a workflow or a fact of the team is written as proposed. Raises NotFoundError
    where the viewer may not see the request, ConflictError where it was decided or has expired or
    where fewer than two people still state a fact, and ForbiddenError for whoever proposed it. Call
    it outside any transaction.
    """
    note = masked_note(note)
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        seen = _waiting(viewer, request_id, now)
        effects = effects_of(seen)
        kept = [draft for each in effects for draft in _drafts_of_kept(each)]
    if seen.kind == _Kind.TEAM_PREFERENCE and seen.present_id is None:
        return _give_to_team(viewer, seen, tools, now, note)
    draft = _agreed_draft(seen)
    (prepared, *rests) = prepare(drafts=[draft, *kept], tools=tools)

    def write() -> ConsentRequest:
        reason = _reason(f"consent given: {seen.field}", note)
        with team_scope(team_ids=[viewer.team_id], actor=viewer.actor, reason=reason):
            lock_owners([(draft.team_id, draft.end_user_id)])
            row = _waiting(viewer, request_id, now, is_locked=True)
            parts = locked_parts(row) if row.kind == _Kind.TEAM_FACT else []
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
            _decide(row, _State.APPROVED, actor=viewer.actor, now=now, note=note, written=written)
            if row.kind == _Kind.PROFILE_FIELD:
                # What else waits for this field would change the new value.
                ConsentRequest.objects.filter(
                    team_id=row.team_id,
                    end_user_id=row.end_user_id,
                    agent=row.agent_id,
                    kind=row.kind,
                    field=row.field,
                    state=_State.WAITING,
                ).update(present=result.memory)
            return row

    return run_write(write)


@retried
def reject_request(
    *, viewer: Viewer, request_id: UUID, now: datetime, note: str = ""
) -> ConsentRequest:
    """Keeps what stands; the same is not asked again. Raises as `approve_request`."""
    note = masked_note(note)
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        row = _waiting(viewer, request_id, now, is_locked=True)
        _decide(row, _State.REJECTED, actor=viewer.actor, now=now, note=note)
        return row


@retried
def snooze_request(
    *, viewer: Viewer, request_id: UUID, until: datetime | None, now: datetime
) -> None:
    """Hides a waiting request from the inbox until then, with None no longer; it goes on waiting.

    Raises as `approve_request`, and ConflictError where it would expire unseen.
    """
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        row = _waiting(viewer, request_id, now, is_locked=True)
        if until is not None and until >= row.expires_at:
            raise ConflictError(f"It expires on {row.expires_at:%Y-%m-%d}. Decide it before.")
        row.snoozed_until = until
        row.save(update_fields=["snoozed_until"])


def expire_requests(*, now: datetime) -> int:
    """Ends the requests of all teams whose time is over; returns how many."""
    expired = 0
    for team_id in all_team_ids():
        with team_scope(team_ids=[team_id], actor=ACTOR):
            rows = ConsentRequest.objects.select_for_update(skip_locked=True).filter(
                team_id=team_id, state=_State.WAITING, expires_at__lte=now
            )
            for row in rows:
                _decide(row, _State.EXPIRED, actor=ACTOR, now=now)
                expired += 1
    return expired


def close_given(*, memory: Memory, actor: str, now: datetime, written: LogRange | None) -> None:
    """Approves the request to give a memory to the team, in the transaction that gave it."""
    rows = ConsentRequest.objects.select_for_update().filter(
        team_id=memory.team_id, memory=memory, kind=_Kind.TEAM_PREFERENCE, state=_State.WAITING
    )
    for row in rows:
        _decide(row, _State.APPROVED, actor=actor, now=now, written=written)


def withdraw(
    *, conversation: Conversation, message_ids: Collection[UUID], actor: str, now: datetime
) -> Collection[UUID]:
    """Rejects the requests that rest on messages told in confidence; call it in no transaction.

    Decided or not, they belong to the agent of the conversation alone from now on. A fact that
    several people state is theirs, too: it stays while enough others state it, else it is deleted.
    Returns these facts.
    """
    team_id = conversation.team_id
    with team_scope(team_ids=[team_id], actor=actor):
        rows = ConsentRequest.objects.select_for_update().filter(
            team_id=team_id, source_message_ids__overlap=list(message_ids)
        )
        for row in rows.exclude(kind=_Kind.TEAM_FACT):
            if row.agent_id is None:
                row.agent_id = conversation.agent_id
                row.save(update_fields=["agent"])
            if row.is_waiting:
                _decide(row, _State.REJECTED, actor=actor, now=now, note=_CONFIDED)
        facts = facts_resting_on(team_id=team_id, message_ids=message_ids)
    for fact, stands in facts.items():
        if not stands:
            viewer = Viewer(team_id=team_id, actor=actor)
            with suppress(NotFoundError):
                delete_memory(viewer=viewer, memory_id=fact, reason=_CONFIDED)
    return facts.keys()


def _decide(
    row: ConsentRequest,
    state: ConsentRequest.State,
    *,
    actor: str,
    now: datetime,
    note: str = "",
    written: LogRange | None = None,
) -> None:
    """Keeps the decision with what was `written` for it, so that it can be undone."""
    row.state, row.decided_by, row.decided_at, row.note = state, actor, now, note
    if written is not None:
        row.commit_id, row.first_seq, row.last_seq = written.commit_id, written.first, written.last
    row.save(update_fields=_DECIDED)
    note_requests(op=_OPS[state], requests=[row])


def _give_to_team(
    viewer: Viewer, seen: ConsentRequest, tools: Tools, now: datetime, note: str
) -> ConsentRequest:
    assert seen.memory_id is not None
    move_memory(
        viewer=viewer,
        memory_id=seen.memory_id,
        move=Move(scope=Scope.TEAM, is_agreed=True, spares_others=True),
        tools=tools,
        reason=_reason("consent given: for the whole team", note),
    )
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        row = ConsentRequest.objects.select_for_update().get(team_id=seen.team_id, pk=seen.pk)
        if row.is_waiting:
            _decide(row, _State.APPROVED, actor=viewer.actor, now=now, note=note)
        return row


def _agreed_draft(row: ConsentRequest) -> MemoryDraft:
    """Returns the memory that a yes writes: under the field, also where it was told as another."""
    draft = replace(draft_of(row), needs_consent=False, is_agreed=True, source=Source.PERSON)
    if row.kind != _Kind.PROFILE_FIELD or matter_of(
        memory_type=draft.memory_type, subject=draft.subject, fields=(field_of(row.field),)
    ):
        return draft
    subject = filed_subject(memory_type="", subject="", sensitive_field=row.field)
    if draft.memory_type is MemoryType.AGENT_PRIVATE:
        return replace(draft, subject=subject)
    return replace(draft, subject=subject, memory_type=MemoryType.USER_PROFILE, project_id=None)


def _waiting(
    viewer: Viewer, request_id: UUID, now: datetime, *, is_locked: bool = False
) -> ConsentRequest:
    row = _decidable(viewer, request_id, is_locked=is_locked)
    if row.state == _State.EXPIRED or (row.is_waiting and row.expires_at <= now):
        raise ConflictError("It has expired: nobody said yes within seven days.")
    if not row.is_waiting:
        raise ConflictError(f"It is already {row.state}, by {row.decided_by}.")
    return row


def _decidable(viewer: Viewer, request_id: UUID, *, is_locked: bool) -> ConsentRequest:
    """The request, whatever its state, if it is the viewer's to decide."""
    row = requests_visible_to(viewer).filter(pk=request_id).first()
    if row is None:
        raise NotFoundError("There is no such consent request.")
    if is_locked:
        rows = ConsentRequest.objects.select_for_update(of=("self",))
        row = rows.select_related("end_user", "present").get(team_id=row.team_id, pk=row.pk)
    is_of_team = row.end_user_id is None and row.kind != _Kind.WORKFLOW
    if is_of_team and viewer.agent_id is not None:
        raise ForbiddenError("What the whole team is told is decided with a key of the team.")
    if row.proposed_by == viewer.actor:
        raise ForbiddenError("Who proposed a change cannot decide it; somebody else has to.")
    return row


def undo_decision(
    *, viewer: Viewer, request_id: UUID, now: datetime, note: str = ""
) -> ConsentRequest:
    """Undoes an approval or a rejection; the request waits for another week.

    Memories that a yes changed are as before, and those that it wrote are deleted. Raises
    NotFoundError and ForbiddenError as deciding does, ConflictError where it was not decided or the
    same is asked again, and ChangedSinceError where memories changed since.
    """
    note = masked_note(note)
    return run_write(lambda: _undo(viewer, request_id, now, note))


def _undo(viewer: Viewer, request_id: UUID, now: datetime, note: str) -> ConsentRequest:
    reason = _reason("consent undone", note)
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor, reason=reason):
        changes = _changes(_decided(viewer, request_id))
        memories = locked_as_now(team_id=viewer.team_id, changes=changes)
        row = _decided(viewer, request_id, is_locked=True)
        found = later_changes(team_id=viewer.team_id, changes=changes, memories=memories)
        refuse_changed(viewer=viewer, found=found, since="it was decided")
        take_back(team_id=viewer.team_id, actor=viewer.actor, changes=changes, memories=memories)
        if row.memory_id is not None and row.kind == _Kind.PROFILE_FIELD:
            others = ConsentRequest.objects.filter(team_id=row.team_id, state=_State.WAITING)
            others.filter(present_id=row.memory_id).update(present=row.present)
        if row.kind != _Kind.TEAM_PREFERENCE or row.present_id is not None:
            row.memory = None
        row.state, row.decided_by, row.decided_at, row.note = _State.WAITING, "", None, ""
        row.commit_id = row.first_seq = row.last_seq = row.snoozed_until = None
        row.expires_at = now + LIFETIME
        row.save(update_fields=[*_DECIDED, "expires_at", "snoozed_until"])
        note_requests(op="undo", requests=[row])
        return row


def _decided(viewer: Viewer, request_id: UUID, *, is_locked: bool = False) -> ConsentRequest:
    row = _decidable(viewer, request_id, is_locked=is_locked)
    if row.state not in (_State.APPROVED, _State.REJECTED):
        raise ConflictError(f"There is no decision to undo: it is {row.state}.")
    if row.state == _State.APPROVED and row.commit_id is None:
        raise ConflictError("Nothing was kept by which it could be undone.")
    if row.state == _State.REJECTED and row.note == _CONFIDED:
        raise ConflictError("The person asked to keep this between them and the agent.")
    again = ConsentRequest.objects.filter(
        team_id=row.team_id,
        kind=row.kind,
        field=row.field,
        end_user_id=row.end_user_id,
        agent=row.agent_id,
        value_key=row.value_key,
        state=_State.WAITING,
    )
    if again.exists():
        raise ConflictError("The same is asked again by another request that waits.")
    return row


def _changes(row: ConsentRequest) -> list[Change]:
    """The changes that the yes made to each memory, from the log; none for a no."""
    if row.commit_id is None or row.first_seq is None or row.last_seq is None:
        return []
    return changes_in(ranges=[LogRange(row.team_id, row.commit_id, row.first_seq, row.last_seq)])


def _reason(what: str, note: str) -> str:
    return f"{what} ({note})" if note else what
