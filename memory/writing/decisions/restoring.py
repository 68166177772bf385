"""Bringing back a memory that was taken out of every read."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from uuid import UUID

from django.utils import timezone

from audit.models import MemoryLog
from memory.domain.audience import Viewer
from memory.domain.types import Status, Tier
from memory.models import Memory
from memory.selectors.history.log import State
from memory.selectors.memories import PurgedError
from memory.understanding.tools import Tools
from memory.writing.decisions.disputes import draft_of_version
from memory.writing.decisions.state import (
    locked_memory,
    note_access,
    settle_tier,
    what_stands_for,
)
from memory.writing.retrying import run_write
from memory.writing.write.audiences import Readers, readers_in
from memory.writing.write.conflicts import Ruling, locked_ruling, rule_on
from memory.writing.write.consent import consent
from memory.writing.write.drafts import MemoryDraft
from memory.writing.write.inserting import PreparedDraft, stacked
from memory.writing.write.marking import apply_version, record_conflicts, retire_superseded
from memory.writing.write.neighbours import NeighbourSearch
from memory.writing.write.prior_decisions import PriorDecisions
from memory.writing.write.repetitions import StoredFacts
from memory.writing.write.secrets import masked_note
from memory.writing.write.write_path import lock_owners, prepare
from teams.errors import ConflictError
from teams.services.team_settings import flags_of_id
from teams.tenancy import team_scope

_AWAY = (Status.SOFT_DELETED.value, Status.ARCHIVED.value)
_ATTEMPTS = 4
_CHANGED = (
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
        memory.save(update_fields=_CHANGED)
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
