"""Changes of a stored memory: pin, delete, archive, annotate, correct, and feedback."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol
from uuid import UUID

from django.db.models import F
from django.utils import timezone

from memory.domain.artifacts import payload_reworded
from memory.domain.audience import Viewer
from memory.domain.forms import PROJECT_FORMS, Form, Payload
from memory.domain.judgements import OF_USE, Feedback, adjusted_importance
from memory.domain.talk import departures
from memory.domain.tiers import HOT_IMPORTANCE, hot_because
from memory.domain.types import (
    MAX_TAG_CHARS,
    Source,
    Status,
    Strategy,
    Tier,
    Verdict,
    Work,
    weakest,
)
from memory.models import Contradiction, Memory, MemoryUsage
from memory.selectors.contradictions import contradictions_visible_to
from memory.selectors.memories import missing_memory, standings_of
from memory.understanding.tools import Tools
from memory.writing.background import retried
from memory.writing.conflicts import ARCHIVED, DELETED
from memory.writing.consent import consent
from memory.writing.drafts import WriteResult, draft_of_version
from memory.writing.rows import may_be_hot, retire
from memory.writing.secrets import masked_note, note_masked, safe_statement
from memory.writing.stating import source_of
from memory.writing.write_path import write_memories
from teams.errors import ConflictError, InvalidError, NotFoundError
from teams.tenancy import team_scope

_COUNTER = {
    Feedback.CITED: "cited",
    Feedback.IGNORED: "ignored",
    Feedback.HELPFUL: "succeeded",
    Feedback.WRONG: "failed",
}


def locked_memory(*, viewer: Viewer, memory_id: UUID) -> Memory:
    """Returns the memory, locked until the transaction ends; NotFoundError when invisible.

    Rows that refer to it, as its counters and links, may be written meanwhile: a flush of counters
    that waited for this row would block those that feedback needs next.
    """
    memory: Memory | None = (
        Memory.objects.visible_to(viewer)
        .with_names()
        .select_for_update(of=("self",), no_key=True)
        .filter(pk=memory_id)
        .first()
    )
    if memory is None:
        raise missing_memory(viewer=viewer, memory_id=memory_id)
    return memory


def what_stands_for(*, memory: Memory) -> str:
    """Returns in words what replaced a memory that is not live, or how to restore it."""
    after, known = memory, {memory.pk}
    while after.superseded_by_id is not None and after.superseded_by_id not in known:
        known.add(after.superseded_by_id)
        after = Memory.objects.get(team_id=memory.team_id, pk=after.superseded_by_id)
        if after.is_live:
            return f"what stands now is {after.pk}"
    if after.pk == memory.pk and memory.status in (Status.SOFT_DELETED, Status.ARCHIVED):
        return f"restore it first: POST /v1/memories/{memory.pk}/restore"
    if after.pk == memory.pk:
        return "nothing took its place"
    return f"what took its place, {after.pk}, is {after.status} as well"


def settle_tier(*, memory: Memory, now: datetime | None = None) -> None:
    """Sets the tier of a live memory by its pin, importance and use; the caller saves it.

    Hot is a memory that is pinned, has an importance of 9 or more or was retrieved often in the
    last days. One that only its use would make hot becomes so in the next consolidation; a cold
    memory that is not hot stays cold. `now` defaults to the present.
    """
    if not memory.is_live:
        return
    is_wanted = memory.is_pinned or memory.importance >= HOT_IMPORTANCE
    if is_wanted and may_be_hot(memory.memory_type):
        memory.tier = Tier.HOT.value
    elif memory.tier == Tier.HOT:
        now = now or timezone.now()
        (stood,) = standings_of(memories=[memory], now=now)
        if not hot_because(stood.standing, now=now):
            memory.tier = Tier.WARM.value


def check_confirmed(*, memory: Memory) -> None:
    """Raises ConflictError for a memory that a tool or a web page alone says."""
    if memory.is_unconfirmed:
        raise ConflictError(
            "A tool or a web page alone says this memory. A person confirms it first, in the inbox"
            f" or with POST /v1/memories/{memory.pk}/confirm."
        )


def note_access(*, team_id: UUID, memory_id: UUID, now: datetime) -> None:
    """Counts a memory as asked for at `now`, so that it does not expire for being unused."""
    MemoryUsage.objects.update_or_create(
        team_id=team_id, memory_id=memory_id, defaults={"last_accessed_at": now}
    )


@retried
def pin_memory(*, viewer: Viewer, memory_id: UUID, pinned: bool, reason: str = "") -> Memory:
    """Pins a live memory, so that every prompt of its audience holds it, or unpins it.

    Of a profile field one memory is pinned: the pin of another goes over to it. Raises
    NotFoundError when the viewer may not see it and ConflictError when it is not live or not
    confirmed.
    """
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor, reason=masked_note(reason)):
        memory = locked_memory(viewer=viewer, memory_id=memory_id)
        if pinned and not memory.is_live:
            raise ConflictError(
                f"A memory that is {memory.status} cannot be pinned;"
                f" {what_stands_for(memory=memory)}."
            )
        if pinned:
            check_confirmed(memory=memory)
        if memory.is_pinned != pinned:
            memory.is_pinned = pinned
            settle_tier(memory=memory)
            memory.save(update_fields=["is_pinned", "tier"])
            consent().release_pins(memory=memory)
        return memory


@retried
def delete_memory(*, viewer: Viewer, memory_id: UUID, reason: str = "") -> Memory:
    """Hides a memory from every read but by its own id; deleting it again changes nothing.

    It turns cold and soft_deleted, its open disputes end, and its text and log stay. Raises
    NotFoundError when the viewer may not see it and ForbiddenError where an agent deletes a
    preference of the team.
    """
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor, reason=masked_note(reason)):
        memory = locked_memory(viewer=viewer, memory_id=memory_id)
        if memory.status != Status.SOFT_DELETED:
            consent().check_settled(viewer=viewer, memory=memory, is_replaced=False)
            retire(memory=memory, status=Status.SOFT_DELETED, actor=viewer.actor, note=DELETED)
        return memory


@retried
def archive_memory(*, viewer: Viewer, memory_id: UUID, reason: str = "") -> Memory:
    """Archives a live memory: searches of the past still find it, prompts do not.

    It turns cold, loses its pin, and its open disputes end. Archiving it again changes nothing,
    and it can be restored. Raises NotFoundError when the viewer may not see it and ConflictError
    when it is not live.
    """
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor, reason=masked_note(reason)):
        memory = locked_memory(viewer=viewer, memory_id=memory_id)
        if memory.status == Status.ARCHIVED:
            return memory
        if not memory.is_live:
            raise ConflictError(
                f"A memory that is {memory.status} cannot be archived;"
                f" {what_stands_for(memory=memory)}."
            )
        consent().check_settled(viewer=viewer, memory=memory, is_replaced=False)
        retire(memory=memory, status=Status.ARCHIVED, actor=viewer.actor, note=ARCHIVED)
        return memory


def snooze_contradiction(*, viewer: Viewer, contradiction_id: UUID, until: datetime | None) -> None:
    """Hides an open contradiction from the inbox until then, with None no longer; it stays open.

    Raises NotFoundError when the viewer may not see it and ConflictError when it is settled.
    """
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        if not contradictions_visible_to(viewer).filter(pk=contradiction_id).exists():
            raise NotFoundError("There is no such contradiction.")
        changed = Contradiction.objects.filter(
            team_id=viewer.team_id, pk=contradiction_id, resolved_at=None
        ).update(snoozed_until=until)
        if not changed:
            raise ConflictError("It is already settled.")


@dataclass(frozen=True, slots=True)
class Notes:
    """Changes of a memory's annotations: `tags` maps the old tags to new ones, None leaves them.

    With `sets_end` the memory holds until `valid_to`, None for no end.
    """

    tags: Callable[[Sequence[str]], Sequence[str]] | None = None
    sets_end: bool = False
    valid_to: datetime | None = None


@retried
def annotate_memory(*, viewer: Viewer, memory_id: UUID, notes: Notes, reason: str = "") -> Memory:
    """Changes the tags of a live memory or its end; secrets in tags are masked.

    Raises NotFoundError when the viewer may not see it, ConflictError when it is not live,
    InvalidError for an end before its start, and ForbiddenError where an agent ends a preference
    of the team.
    """
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor, reason=masked_note(reason)):
        memory = _locked_version(viewer, memory_id)
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


def _locked_version(viewer: Viewer, memory_id: UUID) -> Memory:
    memory = locked_memory(viewer=viewer, memory_id=memory_id)
    if not memory.is_live:
        raise ConflictError(f"This version is {memory.status}; {what_stands_for(memory=memory)}.")
    return memory


# -- corrections and feedback ----------------------------------------------------------------


@retried
def correct_memory(
    *,
    viewer: Viewer,
    memory_id: UUID,
    corrected_content: str,
    reason: str,
    tools: Tools,
    now: datetime,
    form: Form | None = None,
    payload: Payload | None = None,
    drops_form: bool = False,
    source: Source | None = None,
) -> WriteResult:
    """Writes a new version that supersedes the memory; the old text stays readable by its id.

    A `payload` of its `form` comes with the text, or gives it where that is empty; a memory with a
    form is corrected with one, unless the new version `drops_form`. Secrets are masked. When
    another memory says the same, that one takes its place and the result is a duplicate. `source`
    is the viewer's by default; an agent does not confirm a memory by correcting it. Raises
    NotFoundError when the viewer may not see it, ConflictError when it is not the current version
    or confirmed and the source is not, and InvalidError when nothing changes, the payload is
    missing, or there is only a secret.
    """
    safe = safe_statement(
        text=corrected_content, text_field="corrected_content", form=form, payload=payload
    )
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        memory = _locked_version(viewer, memory_id)
        draft = draft_of_version(memory=memory, content=safe.text, extractor="correction", now=now)
        stated = safe.payload
        if form is None and not drops_form:
            quoted = payload_reworded(
                memory.form, memory.payload, text=memory.content, words=safe.text
            )
            if quoted is not None:
                form, stated = Form(memory.form), quoted
        draft = replace(
            draft,
            author_id=memory.agent_id or viewer.agent_id,
            form=form,
            payload=stated,
            source=_corrected(viewer, memory, source),
        )
        is_other = draft.adds_payload_to(memory) or (drops_form and memory.form != "")
        if memory.content == safe.text and not is_other:
            field = "corrected_content" if corrected_content else "payload"
            raise InvalidError("The memory says exactly this.", field=field)
        if memory.form and form is None and not drops_form:
            raise InvalidError(
                f"This memory has the form {memory.form}: send the form and its payload as well,"
                " or null as the form to keep the text alone.",
                field="payload",
            )
        if form in PROJECT_FORMS and memory.project_id is None and memory.form != form:
            raise InvalidError(f"A memory of the form {form} is of a project.", field="form")
    (result,) = write_memories(
        viewer=viewer, drafts=[draft], tools=tools, reason=masked_note(reason) or "corrected"
    )
    departs = departures(text=safe.text, memory_type=draft.memory_type)
    result = replace(result, wording=departs)
    if safe.is_masked:
        with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
            result = note_masked(team_id=viewer.team_id, result=result)
    return result


def _corrected(viewer: Viewer, memory: Memory, stated: Source | None) -> Source:
    """Returns the source of the corrected text."""
    most = source_of(viewer)
    if most is not Source.PERSON and memory.is_unconfirmed:
        most = Source(memory.source)
    return most if stated is None else weakest((most, stated))


class Listener(Protocol):
    """Learns that a memory was of use; called in the transaction of the report and its scope."""

    def __call__(self, *, memory: Memory, work: Work) -> None: ...


# Satellites add theirs.
LISTENERS: list[Listener] = []


def note_useful(*, memory: Memory, work: Work) -> None:
    """Tells every listener that the memory was of use in the work."""
    for listener in LISTENERS:
        listener(memory=memory, work=work)


@retried
def give_feedback(
    *,
    viewer: Viewer,
    memory_id: UUID,
    signal: Feedback,
    note: str,
    work: Work | None = None,
) -> Memory:
    """Counts the signal, adjusts the importance within its bounds, and opens a dispute for "wrong".

    The tier follows the importance, and a cold memory that was of use is warm again. LISTENERS are
    told of a memory that was of use in a `work`. Raises NotFoundError when the viewer may not see
    it and ConflictError when it is not live.
    """
    note = masked_note(note)
    reason = f"feedback: {signal}" + (f" ({note})" if note else "")
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor, reason=reason):
        memory = locked_memory(viewer=viewer, memory_id=memory_id)
        if not memory.is_live:
            raise ConflictError(
                f"This memory is {memory.status}, and nobody is shown it any more;"
                f" {what_stands_for(memory=memory)}."
            )
        usage = _count(memory, _COUNTER[signal])
        memory.importance = adjusted_importance(
            importance=memory.importance, signal=signal, ignored=usage.ignored
        )
        if signal in OF_USE and memory.tier == Tier.COLD:
            memory.tier = Tier.WARM.value
        settle_tier(memory=memory)
        if signal == Feedback.WRONG:
            memory.status = Status.DISPUTED.value
            Contradiction.objects.get_or_create(
                team_id=memory.team_id,
                memory_a=memory,
                memory_b=None,
                resolved_at=None,
                defaults={
                    "strategy": Strategy.FEEDBACK.value,
                    "judge": viewer.actor,
                    "verdict": Verdict.DISPUTE.value,
                    "reason": note or "said to be wrong",
                },
            )
        memory.save(update_fields=["importance", "tier", "status"])
        if work is not None and signal in OF_USE:
            note_useful(memory=memory, work=work)
        return memory


def _count(memory: Memory, counter: str) -> MemoryUsage:
    usage, _ = MemoryUsage.objects.get_or_create(team_id=memory.team_id, memory_id=memory.pk)
    MemoryUsage.objects.filter(team_id=memory.team_id, memory_id=memory.pk).update(
        **{counter: F(counter) + 1}
    )
    usage.refresh_from_db()
    return usage
