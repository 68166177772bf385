"""What callers say of a memory they were given: it is wrong, it helped, it should read so."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from uuid import UUID

from django.db.models import F

from memory.domain.audience import Viewer
from memory.domain.forms import PROJECT_FORMS, Form, Payload
from memory.domain.judgements import OF_USE, Feedback, adjusted_importance
from memory.domain.talk import departures
from memory.domain.types import Status, Strategy, Tier, Verdict
from memory.domain.work import Work
from memory.models import Contradiction, Memory, MemoryUsage
from memory.understanding.tools import Tools
from memory.writing.decisions.disputes import draft_of_version
from memory.writing.decisions.state import locked_memory, settle_tier, what_stands_for
from memory.writing.retrying import retried
from memory.writing.usefulness import note_useful
from memory.writing.write.drafts import WriteResult
from memory.writing.write.secrets import masked_note, note_masked
from memory.writing.write.statements import safe_statement
from memory.writing.write.write_path import write_memories
from teams.errors import ConflictError, InvalidError
from teams.tenancy import team_scope

_COUNTER = {
    Feedback.CITED: "cited",
    Feedback.IGNORED: "ignored",
    Feedback.HELPFUL: "succeeded",
    Feedback.WRONG: "failed",
}


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
) -> WriteResult:
    """Write a new version that supersedes the memory; the old text stays readable by its id.

    A `payload` of its `form` comes with the text, or gives it where that is empty; what has a form
    is corrected with one, unless the new version `drops_form` and is text alone. Secrets in the
    text, the payload and the reason are masked. When another memory says the same already, that one
    takes its place and the result is a duplicate. Raises NotFoundError when the viewer may not see
    it, ConflictError when it is not the current version any more and InvalidError when the text and
    payload are the same, the payload is missing, or there is nothing but a secret.
    """
    safe = safe_statement(
        text=corrected_content, text_field="corrected_content", form=form, payload=payload
    )
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        memory = locked_memory(viewer=viewer, memory_id=memory_id)
        if not memory.is_live:
            raise ConflictError(
                f"This version is {memory.status}; {what_stands_for(memory=memory)}."
            )
        draft = draft_of_version(memory=memory, content=safe.text, extractor="correction", now=now)
        draft = replace(draft, form=form, payload=safe.payload)
        is_other = draft.adds_payload_to(memory) or (drops_form and memory.form != "")
        if memory.content == safe.text and not is_other:
            field = "corrected_content" if corrected_content else "payload"
            raise InvalidError("The memory says exactly this.", field=field)
        _check_form(memory, form, drops_form=drops_form)
    (result,) = write_memories(
        viewer=viewer, drafts=[draft], tools=tools, reason=masked_note(reason) or "corrected"
    )
    departs = departures(text=safe.text, memory_type=draft.memory_type)
    result = replace(result, wording=departs)
    if safe.is_masked:
        with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
            result = note_masked(team_id=viewer.team_id, result=result)
    return result


def _check_form(memory: Memory, form: Form | None, *, drops_form: bool) -> None:
    """No payload gets lost unasked, and what is of a project has one."""
    if memory.form and form is None and not drops_form:
        raise InvalidError(
            f"This memory has the form {memory.form}: send the form and its payload as well, or"
            " null as the form to keep the text alone.",
            field="payload",
        )
    if form in PROJECT_FORMS and memory.project_id is None and memory.form != form:
        raise InvalidError(f"A memory of the form {form} is of a project.", field="form")


@retried
def give_feedback(
    *,
    viewer: Viewer,
    memory_id: UUID,
    signal: Feedback,
    note: str,
    work: Work | None = None,
) -> Memory:
    """Count the signal, move the importance within its bounds, and open a dispute for "wrong".

    The tier follows the importance, and what is cold and was of use is warm again. What was of use
    in a `work` is predicted when its signals come again.

    Raises NotFoundError when the viewer may not see the memory and ConflictError when it is not
    live.
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
            # What is of use is to be found without asking for what is cold.
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
