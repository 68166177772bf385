"""Keys, passwords and card numbers are never kept about a memory, whoever writes it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from uuid import UUID

from audit.services.events import Event, record_events
from memory.domain.secrets import MASK, mask_secrets
from memory.domain.text.normalise import NO_WORDS, has_words
from memory.services.write.drafts import WriteResult
from teams.errors import InvalidError

_WORD = re.compile(r"[^\W_]+")
# Words that only introduce a secret: a text of these and a mask tells nothing worth knowing.
_INTRODUCING = re.compile(
    r"a|access|account|an|and|api|are|auth|authorization|aws|backup|basic|bearer|card|cc"
    r"|client|code|codes|com|credentials?|credit|cvc|cvv|db|debit|export|for|here|hooks"
    r"|https?|i|iban|is|its?|key|login|mine|my|new|no|number|of|our|pass|passcode"
    r"|passphrase|passwd|password|phrase|pin|private|pw|pwd|recovery|root|s|secret|security"
    r"|seed|services|slack|ssh|the|this|to|token|url|use|user|username|was|webhook|with"
    r"|words|your"
)


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
    words = _WORD.findall(safe.replace(MASK, " ").casefold())
    return all(_INTRODUCING.fullmatch(word) for word in words)
