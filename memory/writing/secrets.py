"""Masks keys, passwords and card numbers in all that is stored of a memory."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from uuid import UUID

from audit.services.events import Event, record_events
from memory.domain.forms import Form, Payload, masked, rendered
from memory.domain.secrets import MASK, mask_secrets
from memory.domain.text.words import NO_WORDS, has_words
from memory.writing.drafts import WriteResult
from teams.errors import InvalidError

# So few words before a secret only introduce it ("My API key is …").
_INTRODUCING = 4


@dataclass(frozen=True, slots=True)
class SafeStatement:
    """A text and a payload without secrets, and whether one was masked."""

    text: str
    payload: Payload = field(default_factory=dict)
    is_masked: bool = False


def safe_statement(
    *,
    text: str,
    text_field: str,
    form: Form | None = None,
    payload: Payload | None = None,
    refuse_bare: bool = True,
) -> SafeStatement:
    """Returns the text, rendered from the payload where it is empty, and the payload, masked.

    With `refuse_bare` an InvalidError names `text_field`, or `payload` where that gives the text,
    when the text has no words or nothing but a secret.
    """
    given: Payload = payload or {} if form else {}
    safe_payload = masked(given)
    if form is not None and not text:
        text, text_field = rendered(form, safe_payload), "payload"
    safe = mask_secrets(text=text)
    is_masked = safe != text or safe_payload != given
    if refuse_bare and not has_words(text):
        raise InvalidError(NO_WORDS, field=text_field)
    if refuse_bare and is_masked and _is_bare(safe):
        raise InvalidError(
            "This is nothing but a key, password or card number, and those are never stored. Keep"
            " it in a secret store and say here what it is for.",
            field=text_field,
        )
    return SafeStatement(safe, safe_payload, is_masked)


def _is_bare(safe: str) -> bool:
    before, _, behind = safe.rpartition(MASK)
    words = [word for word in before.split() if has_words(word) and MASK not in word]
    return len(words) <= _INTRODUCING and not has_words(behind)


def masked_note(text: str, *, most: int | None = None) -> str:
    """Returns a reason, note, subject or tag with every secret masked, cut at `most` characters."""
    return mask_secrets(text=text)[:most] if text else text


def note_masked(*, team_id: UUID, result: WriteResult) -> WriteResult:
    """Records that a secret was masked in this memory; call it in the team's scope."""
    memory = result.memory
    event = Event(
        node="write",
        op="mask_secret",
        memory_id=memory.pk,
        end_user_id=memory.end_user_id,
        conversation_id=memory.conversation_id,
        meta={"outcome": result.outcome.value},
    )
    record_events(team_id=team_id, events=[event])
    return replace(result, secret_masked=True)
