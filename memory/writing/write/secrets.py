"""Keys, passwords and card numbers are never kept about a memory, whoever writes it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from uuid import UUID

from audit.services.events import Event, record_events
from memory.domain.secrets import MASK, mask_secrets
from memory.domain.text.words import NO_WORDS, has_words
from memory.writing.write.drafts import WriteResult
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
