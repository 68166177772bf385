"""Gives a memory to another scope, type or owner, or brings back one that was removed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from django.utils import timezone

from audit.models import MemoryLog
from memory.domain.audience import OF_AN_AGENT, TEAM_WIDE, Viewer
from memory.domain.profile_fields import field_of
from memory.domain.types import MemoryType, Scope, Status, Tier
from memory.models import Memory
from memory.selectors.history.log import LogMark, State
from memory.selectors.memories import PurgedError
from memory.understanding.tools import Tools
from memory.writing.background import retried, run_write
from memory.writing.conflicts import PriorDecisions, Ruling, locked_ruling, rule_on
from memory.writing.consent import consent
from memory.writing.decisions.changes import (
    locked_memory,
    note_access,
    settle_tier,
    what_stands_for,
)
from memory.writing.drafts import MemoryDraft, PreparedDraft, draft_of_version, stacked
from memory.writing.neighbours import NeighbourSearch, Readers, readers_in
from memory.writing.repetitions import StoredFacts
from memory.writing.rows import apply_version, record_conflicts, retire_superseded
from memory.writing.secrets import masked_note
from memory.writing.stating import Belonging, belonging, check_may_confirm, check_team_preference
from memory.writing.write_path import lock_owners, prepare
from teams.errors import ConflictError, ForbiddenError, InvalidError, NotFoundError
from teams.models import EndUser, Project
from teams.services.people import agent_called
from teams.services.team_settings import flags_of_id
from teams.tenancy import team_scope

_AWAY = (Status.SOFT_DELETED.value, Status.ARCHIVED.value)
_ATTEMPTS = 4
_RESTORED = (
    "status",
    "tier",
    "dedupe_key",
    "is_pinned",
    "version",
    "supersedes",
    "superseded_by",
    "purge_at",
)
_FINAL = "Nothing brings it back; the past still shows it."
_NEEDS_YES = (
    "It would change {}, which needs a yes: state the text with POST /v1/memories, which asks for"
    " one."
)
_STANDS = "The same fact stands in {}; delete that one first if this is to come back."


def restore_memory(
    *,
    viewer: Viewer,
    memory_id: UUID,
    tools: Tools,
    reason: str = "",
    now: datetime | None = None,
) -> Memory:
    """Bring a soft-deleted or archived memory back; a live one stays as it is.

    It meets what stands by now as a new memory would: what it contradicts is disputed, and what is
    newer supersedes it. What people said is wrong comes back as disputed, unless the viewer said
    so. One that a newer version had superseded goes back to being that. One that was pinned when it
    went is pinned again, what expired comes back to its tier, and what was stored unchecked comes
    back unchecked. `now` is the present where it is left out: what had expired counts as asked for
    then. Raises NotFoundError when the viewer may not see it, ConflictError when the same fact
    stands again by now, or it is an older version, or it was erased or purged, and UnavailableError
    when the embedder does not answer.
    """
    now = now or timezone.now()
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        memory = _away(viewer, memory_id, now)
        draft = _draft(viewer, memory)
    if memory.is_live:
        return memory
    (item,) = prepare(drafts=[draft], tools=tools)
    # A writer who checks nothing waits for nobody, and may store the same fact meanwhile.
    return run_write(lambda: _restored(viewer, memory, masked_note(reason), item, tools, now))


def _draft(viewer: Viewer, memory: Memory) -> MemoryDraft:
    """The memory as a writer of the same would send it."""
    draft = draft_of_version(
        memory=memory, content=memory.content, extractor=memory.extractor, now=memory.created_at
    )
    return replace(
        draft,
        author_id=memory.agent_id or viewer.agent_id,
        extraction_pass=memory.extraction_pass,
        check=memory.dedupe_key is not None,
        replaces=(),
    )


def _away(viewer: Viewer, memory_id: UUID, now: datetime) -> Memory:
    """The memory, its row held, live or such as can come back."""
    try:
        memory = locked_memory(viewer=viewer, memory_id=memory_id)
    except PurgedError as error:
        raise ConflictError(f"{error.message} {_FINAL}") from None
    if memory.purge_at is not None and memory.purge_at <= now:
        raise ConflictError(f"It was purged on {memory.purge_at:%Y-%m-%d}. {_FINAL}")
    if memory.is_live:
        return memory
    if memory.status not in _AWAY:
        raise ConflictError(f"This version is {memory.status}; {what_stands_for(memory=memory)}.")
    _refuse_erased(memory)
    return memory


def _restored(
    viewer: Viewer,
    seen: Memory,
    reason: str,
    item: PreparedDraft,
    tools: Tools,
    now: datetime,
) -> Memory:
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor, reason=reason):
        # As a writer of the same fact would, before the row is held.
        lock_owners([(seen.team_id, seen.end_user_id)])
        memory = _away(viewer, seen.pk, now)
        if memory.is_live:
            return memory
        if memory.superseded_by_id is not None:
            memory.status = Status.SUPERSEDED.value
            memory.purge_at = None
            memory.save(update_fields=["status", "purge_at"])
            return memory
        readers = readers_in(team_id=viewer.team_id, agent_id=viewer.agent_id)
        if item.draft.check:
            facts = StoredFacts(team_id=viewer.team_id, prepared=[item], readers=readers)
            twin = facts.same_as(item)
            if twin is not None:
                raise ConflictError(_STANDS.format(twin.pk))
            facts.take_key(item, memory)
        ruling = ruling_on(viewer=viewer, item=item, tools=tools, readers=readers)
        if ruling.duplicate_of is not None:
            raise ConflictError(_STANDS.format(ruling.duplicate_of.pk))
        before = _when_live(memory)
        has_expired = memory.purge_at is not None
        memory.status = Status.ACTIVE.value
        memory.tier = before.get("tier", Tier.WARM.value) if has_expired else Tier.WARM.value
        memory.is_pinned = before.get("is_pinned", False)
        memory.purge_at = None
        settle_tier(memory=memory, now=now)
        if has_expired:
            note_access(team_id=memory.team_id, memory_id=memory.pk, now=now)
        apply_version(memory=memory, ruling=ruling)
        retire_superseded(memory=memory, ruling=ruling, actor=viewer.actor)
        memory.save(update_fields=_RESTORED)
        consent().release_pins(memory=memory)
        record_conflicts(ruled=[(memory, ruling)], judge=tools.judge.name)
        return memory


def _when_live(memory: Memory) -> State:
    """What it was when it was last live: what takes a memory away takes its tier and pin too."""
    live = MemoryLog.objects.filter(
        team_id=memory.team_id,
        memory_id=memory.pk,
        state__status__in=(Status.ACTIVE.value, Status.DISPUTED.value),
    )
    return live.order_by("-seq").values_list("state", flat=True).first() or {}


def ruling_on(
    *,
    viewer: Viewer,
    item: PreparedDraft,
    tools: Tools,
    readers: Readers,
    without: UUID | None = None,
) -> Ruling:
    """What a new memory that says this would do, over memories that are locked by now.

    It is not compared with the memory `without`. Raises ConflictError when they keep changing, and
    where it would change what waits for a yes.
    """
    draft = item.draft
    is_judged = flags_of_id(team_id=draft.team_id).contradiction_detection
    for _ in range(_ATTEMPTS):
        search = NeighbourSearch(
            drafts=[draft],
            vectors=stacked([item]),
            embedding_model=tools.embedder.name,
            readers=readers,
        )
        search.drop([without] if without else [])
        decisions = PriorDecisions(
            drafts=[draft] if is_judged else (),
            near=search.stored,
            readers=readers,
            without=viewer.actor,
        )
        ruling = rule_on(
            draft=draft,
            neighbours=search.of(0),
            judge=tools.judge if is_judged else None,
            anchor=tools.embedder.opposition_similarity,
            decided=decisions.on(0),
        )
        locked = locked_ruling(ruling)
        if locked is not None:
            changed = (
                consent()
                .gate(viewer=viewer, readers=readers)
                .changed_by(draft, locked, without=without)
            )
            if changed:
                raise ConflictError(_NEEDS_YES.format(changed[0][1].pk))
            return locked
    raise ConflictError("Related memories were changed concurrently. Retry the request.")


def _refuse_erased(memory: Memory) -> None:
    """Raise ConflictError for a memory that went with a person who was erased."""
    log = MemoryLog.objects.filter(team_id=memory.team_id, memory_id=memory.pk, event="erased")
    if log.exists():
        raise ConflictError("What this memory said was erased for good; nothing can come back.")


# What stays with its agent under any scope.
_STAYS = (*OF_AN_AGENT, MemoryType.PROCEDURAL)
_CHANGED = (
    "memory_type",
    "audience",
    "scope",
    "agent",
    "end_user",
    "project",
    "dedupe_key",
    "is_pinned",
    "tier",
    "status",
    "version",
    "supersedes",
    "superseded_by",
)


@dataclass(frozen=True, slots=True)
class Move:
    """What a memory becomes; None leaves it. Names are of those that the new scope or type needs.

    A scope gives the memory to all agents, unless its type stays with one. `is_agreed` says that
    somebody who may agreed to it, which a preference of the whole team needs.
    """

    scope: Scope | None = None
    memory_type: MemoryType | None = None
    user: str | None = None
    project: str | None = None
    agent: str | None = None
    is_agreed: bool = False


def move_memory(
    *, viewer: Viewer, memory_id: UUID, move: Move, tools: Tools, reason: str = ""
) -> Memory:
    """Give a current memory to others; its text, sources and history stay.

    It meets what stands there as a new memory would. Nothing happens where it is theirs already.
    Raises NotFoundError when the viewer may not see it or a name is unknown, ForbiddenError for an
    identity memory where an agent asks, or for another agent's, InvalidError where scope, type and
    names do not fit, ConflictError when the same fact stands there, or when it is in dispute or not
    live, and UnavailableError when the embedder does not answer.
    """
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        memory = locked_memory(viewer=viewer, memory_id=memory_id)
        draft = _moved(viewer, memory, move)
        if _is_as_it_was(memory, draft):
            return memory
    (item,) = prepare(drafts=[draft], tools=tools)
    return run_write(lambda: _write(viewer, memory, move, item, tools, reason))


def _write(
    viewer: Viewer, seen: Memory, move: Move, item: PreparedDraft, tools: Tools, reason: str
) -> Memory:
    draft = item.draft
    why = masked_note(reason) or f"given to scope {draft.scope.value} as {draft.memory_type.value}"
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor, reason=why):
        # As writers do, before the row is held.
        lock_owners((seen.team_id, user) for user in (seen.end_user_id, draft.end_user_id))
        memory = locked_memory(viewer=viewer, memory_id=seen.pk)
        if not _is_same_owner(_moved(viewer, memory, move), draft):
            raise ConflictError("The memory was changed at this moment; send it again.")
        readers = readers_in(team_id=viewer.team_id, agent_id=viewer.agent_id)
        if draft.check:
            facts = StoredFacts(team_id=viewer.team_id, prepared=[item], readers=readers)
            twin = facts.same_as(item)
            if twin is not None and twin.pk != memory.pk:
                raise _stands(twin)
            if twin is None:
                facts.take_key(item, memory)
        ruling = ruling_on(
            viewer=viewer, item=item, tools=tools, readers=readers, without=memory.pk
        )
        if ruling.duplicate_of is not None:
            raise _stands(ruling.duplicate_of)
        mark = LogMark(team_id=memory.team_id)
        memory.memory_type = draft.memory_type.value
        memory.audience = draft.owner.audience.value
        memory.scope = draft.scope.value
        memory.agent_id = draft.agent_id
        memory.end_user_id = draft.end_user_id
        memory.project_id = draft.project_id
        memory.is_pinned |= draft.memory_type is MemoryType.IDENTITY
        settle_tier(memory=memory)
        apply_version(memory=memory, ruling=ruling)
        retire_superseded(memory=memory, ruling=ruling, actor=viewer.actor)
        memory.save(update_fields=_CHANGED)
        consent().release_pins(memory=memory)
        record_conflicts(ruled=[(memory, ruling)], judge=tools.judge.name)
        if memory.end_user_id is None:
            written = mark.written(locked=[memory.pk])
            now = timezone.now()
            consent().close_given(memory=memory, actor=viewer.actor, now=now, written=written)
        return memory


def _stands(twin: Memory) -> ConflictError:
    return ConflictError(f"The same fact stands there already, in {twin.pk}.")


def _moved(viewer: Viewer, memory: Memory, move: Move) -> MemoryDraft:
    """The memory as a writer who states it for its new owner would send it."""
    if memory.status != Status.ACTIVE:
        hint = (
            "settle its contradiction first"
            if memory.status == Status.DISPUTED
            else what_stands_for(memory=memory)
        )
        raise ConflictError(f"This memory is {memory.status} and cannot be given away; {hint}.")
    memory_type = move.memory_type or MemoryType(memory.memory_type)
    if viewer.agent_id is not None and MemoryType.IDENTITY in (memory_type, memory.memory_type):
        raise ForbiddenError(
            "What an agent knows of itself is changed with a key of the team.", field="memory_type"
        )
    owner = Belonging(memory.end_user_id, memory.project_id)
    if move.scope is not None:
        owner = belonging(scope=move.scope, named=_named(memory, move), known=_known(memory))
    if memory_type is MemoryType.USER_PROFILE and owner.end_user_id is None:
        raise InvalidError("A user_profile is about a person: name the user.", field="user")
    _refuse_taken(memory, memory_type, owner)
    was_of_team = Belonging(memory.end_user_id, memory.project_id) == Belonging()
    if was_of_team != (owner == Belonging()) and not move.is_agreed:
        check_team_preference(category=memory.category, subject=memory.subject)
    draft = draft_of_version(
        memory=memory, content=memory.content, extractor=memory.extractor, now=memory.created_at
    )
    return replace(
        draft,
        memory_type=memory_type,
        agent_id=_agent(viewer, memory, memory_type, move),
        author_id=memory.agent_id or viewer.agent_id,
        end_user_id=owner.end_user_id,
        project_id=owner.project_id,
        extraction_pass=memory.extraction_pass,
        check=memory.dedupe_key is not None,
        replaces=(),
    )


def _refuse_taken(memory: Memory, memory_type: MemoryType, owner: Belonging) -> None:
    """Raise ConflictError where a guarded profile field would be taken from its person."""
    matter = consent().guarded_field(memory)
    if not matter or memory.end_user_id is None:
        return
    stays = memory_type not in OF_AN_AGENT or memory_type == memory.memory_type
    if owner.end_user_id != memory.end_user_id or not stays:
        raise ConflictError(
            f"It says the {field_of(matter)} of a person, and nobody else's. State another value"
            " for the person, which asks for a yes, or delete it."
        )


def _named(memory: Memory, move: Move) -> Belonging:
    found = {}
    if move.user is not None:
        people = EndUser.objects.filter(team_id=memory.team_id, external_id=move.user)
        found["end_user_id"] = people.values_list("pk", flat=True).first()
        if found["end_user_id"] is None:
            raise NotFoundError(f"There is no user '{move.user}'.", field="user")
    if move.project is not None:
        projects = Project.objects.filter(team_id=memory.team_id, slug=move.project)
        found["project_id"] = projects.values_list("pk", flat=True).first()
        if found["project_id"] is None:
            raise NotFoundError(f"There is no project '{move.project}'.", field="project")
    return Belonging(**found)


def _known(memory: Memory) -> Belonging:
    """Whose it is, else whose the conversation is that it comes from."""
    talk = memory.conversation
    if talk is None:
        return Belonging(memory.end_user_id, memory.project_id)
    return Belonging(memory.end_user_id or talk.end_user_id, memory.project_id or talk.project_id)


def _agent(viewer: Viewer, memory: Memory, memory_type: MemoryType, move: Move) -> UUID | None:
    """The agent that it belongs to then; None for all."""
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


def _is_as_it_was(memory: Memory, draft: MemoryDraft) -> bool:
    return (
        memory.memory_type == draft.memory_type
        and memory.scope == draft.scope
        and memory.agent_id == draft.agent_id
        and memory.end_user_id == draft.end_user_id
        and memory.project_id == draft.project_id
    )


def _is_same_owner(one: MemoryDraft, other: MemoryDraft) -> bool:
    return one.owner == other.owner and one.memory_type is other.memory_type


_WHY = "promoted from its project to the team"


@dataclass(frozen=True, slots=True)
class Promoted:
    """The memory as it stands, and the request that waits where it is not the team's yet."""

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
    """Give a project's memory to the whole team, or ask for a yes where it is a preference.

    What is the team's already stays as it is. Raises NotFoundError when the viewer may not see it,
    ConflictError when it is of no project, of a person, not active, stands in the team already or
    was refused before, and ForbiddenError where an agent confirms.
    """
    check_may_confirm(viewer=viewer, confirm=is_confirmed)
    request = _ask(viewer, memory_id, is_confirmed, now)
    if request is not None:
        return request
    move = Move(scope=Scope.TEAM, is_agreed=True)
    why = f"{_WHY}: {reason}" if reason else _WHY
    moved = move_memory(viewer=viewer, memory_id=memory_id, move=move, tools=tools, reason=why)
    return Promoted(moved)


@retried
def _ask(viewer: Viewer, memory_id: UUID, is_confirmed: bool, now: datetime) -> Promoted | None:
    """Returns the answer without a move; None where the memory is to be moved."""
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        memory = locked_memory(viewer=viewer, memory_id=memory_id)
        if memory.scope == Scope.TEAM:
            return Promoted(memory)
        if memory.scope != Scope.PROJECT or memory.end_user_id is not None:
            raise ConflictError(
                "Only what belongs to a project, and to no person, can be promoted; PATCH gives"
                " other memories to the team."
            )
        if is_confirmed or memory.status != Status.ACTIVE:
            return None
        request = consent().hold_promotion(viewer=viewer, memory=memory, now=now)
        return None if request is None else Promoted(memory, request)
