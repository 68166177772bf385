"""Writing constraints of a memory (seed 004 §9), as far as any language shows whether they hold.

A candidate is accepted, refused with a reason, or has its secrets masked; its words are never
edited (decision 78).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from .secrets import MASK, mask_secrets
from .text.normalise import has_words
from .text.sentences import split_sentences
from .types import Candidate, MemoryType

MAX_CHARS = 280
MAX_SENTENCES = 2
_LOOKED_AT = 10 * MAX_CHARS
# A text with a masked secret and fewer words beside it says no more than that the secret exists.
_FEWEST_WORDS_BESIDE_A_SECRET = 8
_QUESTION_MARKS = ("?", "？", "؟")


@dataclass(frozen=True, slots=True)
class Wording:
    """A candidate after the check, or None with the reason for its refusal."""

    candidate: Candidate | None
    refused: str = ""
    secret_masked: bool = False


def check_wording(candidate: Candidate) -> Wording:
    """Returns the candidate with its secrets masked, or the reason why it may not be stored.

    The form of a text is checked only where a model wrote it: a quotation stands as it was said.
    """
    text = mask_secrets(text=candidate.content)
    is_masked = text != candidate.content
    refused = "" if has_words(text) else "empty"
    if not refused and is_masked and _tells_only_of_a_secret(text):
        refused = "nothing but a secret"
    if not refused and not candidate.is_verbatim:
        refused = next(iter(_faults(text)), "")
    if refused:
        return Wording(None, refused, is_masked)
    return Wording(replace(candidate, content=text) if is_masked else candidate, "", is_masked)


def departures(*, text: str, memory_type: MemoryType) -> tuple[str, ...]:
    """Returns the constraints that a text worded on purpose breaks; none for identity memories.

    Of a text that is far too long only the beginning is checked.
    """
    if memory_type == MemoryType.IDENTITY:
        return ()
    return _faults(text[:_LOOKED_AT]) if has_words(text) else ("empty",)


def _faults(text: str) -> tuple[str, ...]:
    found = []
    if len(text) > MAX_CHARS:
        found.append("too long")
    if len(split_sentences(text)) > MAX_SENTENCES:
        found.append("more than two sentences")
    if text.rstrip(" !！").endswith(_QUESTION_MARKS):
        found.append("a question")
    return tuple(found)


def _tells_only_of_a_secret(text: str) -> bool:
    beside = [word for word in text.replace(MASK, " ").split() if has_words(word)]
    return len(beside) < _FEWEST_WORDS_BESIDE_A_SECRET
