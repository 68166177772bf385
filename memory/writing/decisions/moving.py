"""Gives a memory to another scope, type or owner, or restores one that was removed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol
from uuid import UUID

from django.utils import timezone

from audit.models import MemoryLog
from memory.domain.audience import OF_AN_AGENT, TEAM_WIDE, Viewer
from memory.domain.profile_fields import field_of
from memory.domain.types import OF_THE_CONFIRMED, MemoryType, Scope, Source, Status, Tier
from memory.models import Memory
from memory.selectors.history.log import LogMark, LogRange, State
from memory.selectors.memories import PurgedError
from memory.understanding.tools import Tools
from memory.writing.background import retried, run_write
from memory.writing.conflicts import Ruling
from memory.writing.consent import consent
from memory.writing.decisions.changes import (
    check_confirmed,
    locked_memory,
    note_access,
    settle_tier,
    what_stands_for,
)
from memory.writing.drafts import MemoryDraft, PreparedDraft, draft_as_stored
from memory.writing.rows import apply_version, record_conflicts, retire_superseded
from memory.writing.secrets import masked_note
from memory.writing.stating import Belonging, belonging, check_may_confirm, check_team_preference
from memory.writing.write_path import Write, lock_owners, prepare
from teams.errors import ConflictError, ForbiddenError, InvalidError, NotFoundError
from teams.models import EndUser, Project
from teams.services.people import agent_called
from teams.services.team_settings import flags_of_id
from teams.tenancy import team_scope

# Types that stay with their agent under any scope.
_STAYS = (*OF_AN_AGENT, MemoryType.PROCEDURAL)
_PLACE = (
    "status",
    "tier",
    "dedupe_key",
    "is_pinned",
    "version",
    "supersedes",
    "superseded_by",
)
_OWNERSHIP = ("memory_type", "audience", "scope", "agent", "end_user", "project")
_FINAL = "Nothing brings it back; the past still shows it."


# -- a memory among those that stand ---------------------------------------------------------


def _fit_in(
    viewer: Viewer, memory: Memory, item: PreparedDraft, tools: Tools, *, hint: str
) -> Ruling:
    """Gives the memory a key and returns what it would do as a new one to what stands by now.

    The memories of the ruling are locked. Raises ConflictError, which ends with `hint`, where the
    same fact stands, where the memories keep changing, and where it would change one that needs
    consent.
    """
    draft = item.draft
    is_judged = flags_of_id(team_id=draft.team_id).contradiction_detection
    write = Write(viewer, [item], tools, is_judged=is_judged, moved=memory)
    if draft.check:
        twin = write.facts.same_as(item)
        if twin is None:
            write.facts.take_key(item, memory)
        elif twin.pk != memory.pk:
            raise ConflictError(hint.format(twin.pk))
    _, ruling = write.ruling(0)
    if changed := write.gate.changed_by(draft, ruling, without=memory.pk):
        raise ConflictError(
            f"It would change {changed[0][1].pk}, which needs a yes: state the text with POST"
            " /v1/memories, which asks for one."
        )
    if ruling.duplicate_of is not None:
        raise ConflictError(hint.format(ruling.duplicate_of.pk))
    return ruling


def _carry_out(
    viewer: Viewer, memory: Memory, ruling: Ruling, tools: Tools, *, fields: Sequence[str]
) -> None:
    apply_version(memory=memory, ruling=ruling)
    retire_superseded(memory=memory, ruling=ruling, actor=viewer.actor)
    memory.save(update_fields=[*_PLACE, *fields])
    consent().release_pins(memory=memory)
    record_conflicts(ruled=[(memory, ruling)], judge=tools.judge.name)


# -- restoring -------------------------------------------------------------------------------


def restore_memory(
    *,
    viewer: Viewer,
    memory_id: UUID,
    tools: Tools,
    reason: str = "",
    now: datetime | None = None,
) -> Memory:
    """Restores a soft-deleted or archived memory; a live one stays unchanged.

    It is compared with the present memories as a new one would be. One that people said is wrong
    returns as disputed, unless the viewer said so; one that a newer version had superseded is
    superseded again. A former pin returns, and an expired memory returns to its tier and counts as
    asked for `now` (default: the present). Raises NotFoundError when the viewer may not see it,
    ConflictError when the same fact stands again, or it is an older version, erased or purged, and
    UnavailableError when the embedder does not answer.
    """
    now = now or timezone.now()
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        memory = _removed(viewer, memory_id, now)
        draft = draft_as_stored(viewer=viewer, memory=memory)
    if memory.is_live:
        return memory
    (item,) = prepare(drafts=[draft], tools=tools)
    # A writer who checks nothing waits for nobody, and may store the same fact meanwhile.
    return run_write(lambda: _restored(viewer, memory, masked_note(reason), item, tools, now))


def _removed(viewer: Viewer, memory_id: UUID, now: datetime) -> Memory:
    """Returns the memory, locked, if it is live or can be restored."""
    try:
        memory = locked_memory(viewer=viewer, memory_id=memory_id)
    except PurgedError as error:
        raise ConflictError(f"{error.message} {_FINAL}") from None
    if memory.purge_at is not None and memory.purge_at <= now:
        raise ConflictError(f"It was purged on {memory.purge_at:%Y-%m-%d}. {_FINAL}")
    if memory.is_live:
        return memory
    if memory.status not in (Status.SOFT_DELETED, Status.ARCHIVED):
        raise ConflictError(f"This version is {memory.status}; {what_stands_for(memory=memory)}.")
    log = MemoryLog.objects.filter(team_id=memory.team_id, memory_id=memory.pk, event="erased")
    if log.exists():
        raise ConflictError("This memory was erased and cannot be restored.")
    return memory


def _restored(
    viewer: Viewer, seen: Memory, reason: str, item: PreparedDraft, tools: Tools, now: datetime
) -> Memory:
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor, reason=reason):
        # As a writer of the same fact would, before the row is locked.
        lock_owners([(seen.team_id, seen.end_user_id)])
        memory = _removed(viewer, seen.pk, now)
        if memory.is_live:
            return memory
        if memory.superseded_by_id is not None:
            memory.status = Status.SUPERSEDED.value
            memory.purge_at = None
            memory.save(update_fields=["status", "purge_at"])
            return memory
        hint = "Another memory ({}) already says this. Delete it before restoring this one."
        ruling = _fit_in(viewer, memory, item, tools, hint=hint)
        before = _when_live(memory)
        has_expired = memory.purge_at is not None
        memory.status = Status.ACTIVE.value
        memory.tier = before.get("tier", Tier.WARM.value) if has_expired else Tier.WARM.value
        memory.is_pinned = before.get("is_pinned", False)
        memory.purge_at = None
        settle_tier(memory=memory, now=now)
        if has_expired:
            note_access(team_id=memory.team_id, memory_id=memory.pk, now=now)
        _carry_out(viewer, memory, ruling, tools, fields=["purge_at"])
        return memory


def _when_live(memory: Memory) -> State:
    """Returns its last live state in the log: removing a memory resets its tier and pin."""
    live = MemoryLog.objects.filter(
        team_id=memory.team_id,
        memory_id=memory.pk,
        state__status__in=(Status.ACTIVE.value, Status.DISPUTED.value),
    )
    return live.order_by("-seq").values_list("state", flat=True).first() or {}


# -- moving ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Move:
    """New scope, type and owners of a memory; None leaves them, and names are of the new owners.

    A scope gives the memory to all agents, unless its type stays with one. `is_agreed` marks the
    consent of somebody who may give it, which a preference of the whole team needs. With
    `spares_others` no memory of the new owner is replaced or disputed. `is_withdrawn` marks
    what its person told in confidence, which may leave their profile.
    """

    scope: Scope | None = None
    memory_type: MemoryType | None = None
    user: str | None = None
    project: str | None = None
    agent: str | None = None
    is_agreed: bool = False
    spares_others: bool = False
    is_withdrawn: bool = False


def move_memory(
    *, viewer: Viewer, memory_id: UUID, move: Move, tools: Tools, reason: str = ""
) -> Memory:
    """Gives a current memory to others; its text, sources and history stay.

    It is compared with their memories as a new one would be. Raises NotFoundError when the viewer
    may not see it or a name is unknown, ForbiddenError for an identity memory where an agent asks,
    or for another agent's, InvalidError where scope, type and names do not fit, ConflictError when
    the same fact stands there, or it is disputed, not live or, given to more, not confirmed, and
    UnavailableError without an embedder.
    """
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        memory = locked_memory(viewer=viewer, memory_id=memory_id)
        draft = _moved(viewer, memory, move)
        if _is_unchanged(memory, draft):
            return memory
    (item,) = prepare(drafts=[draft], tools=tools)
    return run_write(lambda: _write(viewer, memory, move, item, tools, reason))


def _is_unchanged(memory: Memory, draft: MemoryDraft) -> bool:
    return (
        memory.memory_type == draft.memory_type
        and memory.scope == draft.scope
        and memory.agent_id == draft.agent_id
        and memory.end_user_id == draft.end_user_id
        and memory.project_id == draft.project_id
    )


def _write(
    viewer: Viewer, seen: Memory, move: Move, item: PreparedDraft, tools: Tools, reason: str
) -> Memory:
    draft = item.draft
    why = masked_note(reason) or f"given to scope {draft.scope.value} as {draft.memory_type.value}"
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor, reason=why):
        # As writers do, before the row is locked.
        lock_owners((seen.team_id, user) for user in (seen.end_user_id, draft.end_user_id))
        memory = locked_memory(viewer=viewer, memory_id=seen.pk)
        now_moved = _moved(viewer, memory, move)
        if (now_moved.owner, now_moved.memory_type) != (draft.owner, draft.memory_type):
            raise ConflictError("The memory was changed at this moment; send it again.")
        hint = "The same fact stands there already, in {}."
        ruling = _fit_in(viewer, memory, item, tools, hint=hint)
        mark = LogMark(team_id=memory.team_id)
        memory.memory_type = draft.memory_type.value
        memory.audience = draft.owner.audience.value
        memory.scope = draft.scope.value
        memory.agent_id = draft.agent_id
        memory.end_user_id = draft.end_user_id
        memory.project_id = draft.project_id
        memory.is_pinned |= draft.memory_type is MemoryType.IDENTITY
        settle_tier(memory=memory)
        _carry_out(viewer, memory, ruling, tools, fields=_OWNERSHIP)
        if memory.end_user_id is None:
            written = mark.written(locked=[memory.pk])
            now = timezone.now()
            consent().close_given(memory=memory, actor=viewer.actor, now=now, written=written)
        return memory


def _moved(viewer: Viewer, memory: Memory, move: Move) -> MemoryDraft:
    """Returns the draft that would state the memory for its new owner."""
    if memory.status != Status.ACTIVE:
        is_disputed = memory.status == Status.DISPUTED
        hint = "settle its contradiction first" if is_disputed else what_stands_for(memory=memory)
        raise ConflictError(f"This memory is {memory.status} and cannot be given away; {hint}.")
    memory_type = move.memory_type or MemoryType(memory.memory_type)
    if viewer.agent_id is not None and MemoryType.IDENTITY in (memory_type, memory.memory_type):
        raise ForbiddenError(
            "What an agent knows of itself is changed with a key of the team.", field="memory_type"
        )
    before = owner = Belonging(memory.end_user_id, memory.project_id)
    if move.scope is not None:
        owner = belonging(
            scope=move.scope, named=_named(viewer, memory, move), known=_known(memory)
        )
    if memory_type is MemoryType.USER_PROFILE and owner.end_user_id is None:
        raise InvalidError("A user_profile is about a person: name the user.", field="user")
    is_of_more = owner == Belonging() != before or memory_type in OF_THE_CONFIRMED
    if is_of_more:
        check_confirmed(memory=memory)
    if not move.is_withdrawn:
        _refuse_taken(memory, memory_type, owner)
    if (before == Belonging()) != (owner == Belonging()) and not move.is_agreed:
        check_team_preference(category=memory.category, subject=memory.subject)
    return replace(
        draft_as_stored(viewer=viewer, memory=memory),
        memory_type=memory_type,
        agent_id=_agent(viewer, memory, memory_type, move),
        end_user_id=owner.end_user_id,
        project_id=owner.project_id,
        is_agreed=move.spares_others,
    )


def _refuse_taken(memory: Memory, memory_type: MemoryType, owner: Belonging) -> None:
    """Raises ConflictError where a guarded profile field would be taken from its person."""
    matter = consent().guarded_field(memory)
    if not matter or memory.end_user_id is None:
        return
    stays = memory_type not in OF_AN_AGENT or memory_type == memory.memory_type
    if owner.end_user_id != memory.end_user_id or not stays:
        raise ConflictError(
            f"It says the {field_of(matter)} of a person, and nobody else's. State another value"
            " for the person, which asks for a yes, or delete it."
        )


def _named(viewer: Viewer, memory: Memory, move: Move) -> Belonging:
    user_id = project_id = None
    if move.user is not None:
        people = EndUser.objects.filter(team_id=memory.team_id, external_id=move.user)
        user_id = people.values_list("pk", flat=True).first()
        if user_id is None:
            raise NotFoundError(f"There is no user '{move.user}'.", field="user")
    if move.project is not None:
        projects = Project.objects.filter(team_id=memory.team_id, slug=move.project)
        project_id = projects.values_list("pk", flat=True).first()
        if project_id is None or not viewer.has_project(project_id):
            raise NotFoundError(f"There is no project '{move.project}'.", field="project")
    return Belonging(user_id, project_id)


def _known(memory: Memory) -> Belonging:
    """Returns the owners of the memory, else those of its conversation."""
    talk = memory.conversation
    if talk is None:
        return Belonging(memory.end_user_id, memory.project_id)
    return Belonging(memory.end_user_id or talk.end_user_id, memory.project_id or talk.project_id)


def _agent(viewer: Viewer, memory: Memory, memory_type: MemoryType, move: Move) -> UUID | None:
    """Returns the agent that it belongs to after the move; None for all."""
    if memory_type in TEAM_WIDE:
        return None
    if memory_type not in _STAYS:
        return None if move.scope is not None else memory.agent_id
    agent_id = memory.agent_id
    if agent_id is None and memory_type in OF_AN_AGENT:
        agent_id = viewer.agent_id
    if move.agent is not None:
        named = agent_called(team_id=memory.team_id, name=move.agent)
        if named is None:
            raise NotFoundError(f"There is no agent '{move.agent}'.", field="agent")
        agent_id = named.pk
    if agent_id is None and memory_type in OF_AN_AGENT:
        raise InvalidError(
            f"A memory of type {memory_type} belongs to an agent: name it.", field="agent"
        )
    if agent_id is not None and viewer.agent_id not in (None, agent_id):
        raise ForbiddenError("It is another agent's.", field="memory_type")
    return agent_id


# -- confirming ------------------------------------------------------------------------------


class Note(Protocol):
    """Records a confirmation and what the log says of it, in its transaction."""

    def __call__(self, memory: Memory, written: LogRange | None) -> None: ...


def confirm_memory(
    *, viewer: Viewer, memory_id: UUID, tools: Tools, note: Note, reason: str = ""
) -> Memory:
    """Makes an unconfirmed memory one that a person vouches for, and lets `note` record it.

    It is compared with the present memories as a new one would be. A confirmed one stays unchanged.
    Raises NotFoundError when the viewer may not see it, ConflictError when the same fact stands, or
    it is disputed or not live, and UnavailableError when the embedder does not answer.
    """
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        memory = _doubted(viewer, memory_id)
        draft = replace(draft_as_stored(viewer=viewer, memory=memory), source=Source.PERSON)
    if not memory.is_unconfirmed:
        return memory
    (item,) = prepare(drafts=[draft], tools=tools)
    return run_write(lambda: _confirmed(viewer, memory, item, tools, note, masked_note(reason)))


def _doubted(viewer: Viewer, memory_id: UUID) -> Memory:
    memory = locked_memory(viewer=viewer, memory_id=memory_id)
    if memory.is_unconfirmed and memory.status != Status.ACTIVE:
        is_disputed = memory.status == Status.DISPUTED
        hint = "settle its contradiction first" if is_disputed else what_stands_for(memory=memory)
        raise ConflictError(f"This memory is {memory.status} and cannot be confirmed; {hint}.")
    return memory


def _confirmed(
    viewer: Viewer, seen: Memory, item: PreparedDraft, tools: Tools, note: Note, reason: str
) -> Memory:
    why = "confirmed" + (f": {reason}" if reason else "")
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor, reason=why):
        lock_owners([(seen.team_id, seen.end_user_id)])
        memory = _doubted(viewer, seen.pk)
        if not memory.is_unconfirmed:
            return memory
        hint = "The same fact stands in {} already; delete one of the two."
        ruling = _fit_in(viewer, memory, item, tools, hint=hint)
        mark = LogMark(team_id=memory.team_id)
        memory.source = Source.PERSON.value
        _carry_out(viewer, memory, ruling, tools, fields=["source"])
        locked = [memory.pk, *(each.pk for each in ruling.memories)]
        note(memory, mark.written(locked=locked))
        return memory


# -- promoting -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Promoted:
    """The present memory, and the consent request that its promotion waits for, if any."""

    memory: Memory
    consent_request: UUID | None = None


def promote_memory(
    *,
    viewer: Viewer,
    memory_id: UUID,
    is_confirmed: bool,
    tools: Tools,
    now: datetime,
    reason: str = "",
) -> Promoted:
    """Gives a project's memory to the whole team, or asks for consent where it is a preference.

    A memory of the team stays unchanged. Raises NotFoundError when the viewer may not see it,
    ConflictError when it is of no project, of a person, not active, stands in the team already or
    was refused before, and ForbiddenError where an agent confirms.
    """
    check_may_confirm(viewer=viewer, confirm=is_confirmed)
    answer = _without_move(viewer, memory_id, is_confirmed, now)
    if answer is not None:
        return answer
    move = Move(scope=Scope.TEAM, is_agreed=True)
    why = "promoted from its project to the team" + (f": {reason}" if reason else "")
    moved = move_memory(viewer=viewer, memory_id=memory_id, move=move, tools=tools, reason=why)
    return Promoted(moved)


@retried
def _without_move(
    viewer: Viewer, memory_id: UUID, is_confirmed: bool, now: datetime
) -> Promoted | None:
    """Returns the answer where the memory is not moved, or not yet."""
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        memory = locked_memory(viewer=viewer, memory_id=memory_id)
        if memory.scope == Scope.TEAM:
            return Promoted(memory) if memory.is_live else None
        if memory.scope != Scope.PROJECT or memory.end_user_id is not None:
            raise ConflictError(
                "Only what belongs to a project, and to no person, can be promoted; PATCH gives"
                " other memories to the team."
            )
        if is_confirmed or memory.status != Status.ACTIVE:
            return None
        request = consent().hold_promotion(viewer=viewer, memory=memory, now=now)
        return None if request is None else Promoted(memory, request)
