"""What a memory is to say: its text and payload as they may be stored."""

from __future__ import annotations

from dataclasses import dataclass, field

from memory.domain.forms import Form, Payload, masked, rendered
from memory.writing.write.secrets import masked_text, refuse_bare_secret


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
