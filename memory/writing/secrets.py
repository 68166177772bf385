"""Keys, passwords and card numbers are masked in all that is stored of a memory."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from uuid import UUID

from audit.services.events import Event, record_events
from memory.domain.forms import Form, Payload, masked, rendered
from memory.domain.secrets import MASK, mask_secrets
from memory.domain.text.words import NO_WORDS, has_words
from memory.writing.drafts import WriteResult
from teams.errors import InvalidError

# So few words before a secret only introduce it ("My API key is …") and tell nothing worth knowing.
_INTRODUCING = 4


@dataclass(frozen=True, slots=True)
class MaskedText:
    """A text as it may be stored, and whether a secret in it was masked."""

    text: str
    is_masked: bool = False


def masked_text(*, text: str, field: str, refuse_bare: bool = True) -> MaskedText:
    """The text with every secret masked.

    With `refuse_bare` an InvalidError names `field` when there is nothing but a secret in the text,
    or not a word.
    """
    if refuse_bare and not has_words(text):
        raise InvalidError(NO_WORDS, field=field)
    safe = mask_secrets(text=text)
    if safe == text:
        return MaskedText(text)
    if refuse_bare:
        refuse_bare_secret(masked=safe, field=field)
    return MaskedText(safe, is_masked=True)


def refuse_bare_secret(*, masked: str, field: str) -> None:
    """Raise InvalidError of `field` for a masked text in which there was nothing but a secret."""
    if _tells_nothing(masked):
        raise InvalidError(
            "This is nothing but a key, password or card number, and those are never stored. Keep"
            " it in a secret store and say here what it is for.",
            field=field,
        )


def masked_note(text: str, *, most: int | None = None) -> str:
    """A reason, note, subject or tag with every secret masked.

    It is cut at `most` characters, because a mask may be longer than its secret.
    """
    return mask_secrets(text=text)[:most] if text else text


def note_masked(*, team_id: UUID, result: WriteResult) -> WriteResult:
    """Record that a secret was masked in what became this memory; call it in the team's scope.

    Returns the result that says so.
    """
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


def _tells_nothing(safe: str) -> bool:
    before, _, behind = safe.rpartition(MASK)
    words = [word for word in before.split() if has_words(word) and MASK not in word]
    return len(words) <= _INTRODUCING and not has_words(behind)


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
    """The text, or without one the words of the payload, and the payload, all secrets masked.

    With `refuse_bare` an InvalidError names `text_field`, or `payload` where that gives the text,
    when there is nothing but a secret in the text, or not a word.
    """
    if form is None:
        safe = masked_text(text=text, field=text_field, refuse_bare=refuse_bare)
        return SafeStatement(safe.text, is_masked=safe.is_masked)
    payload = payload or {}
    safe_payload = masked(payload)
    is_masked = safe_payload != payload
    field_of_text = text_field if text else "payload"
    text = text or rendered(form, safe_payload)
    safe = masked_text(text=text, field=field_of_text, refuse_bare=refuse_bare)
    if is_masked and refuse_bare:
        refuse_bare_secret(masked=safe.text, field=field_of_text)
    return SafeStatement(safe.text, safe_payload, safe.is_masked or is_masked)
