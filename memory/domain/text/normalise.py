"""Texts as the duplicate rules and the lexical signal read them."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterable, Mapping

from memory.domain.audience import Owner

_WORD = re.compile(r"[^\W_]+(?:['’.][^\W_]+)*")
# At most three capitalised words: a longer beginning, or another one, is a sentence or a label.
_SPEAKER = re.compile(r"((?:[A-Z][\w'’.-]*)(?: [A-Z][\w'’.-]*){0,2}): \S")
_OPENING = "\"'([{“‘«¿¡"
_DASHES = ("-", "–", "—")
_CLOSING = ".,;:!?\"')]}…”’»"

NO_WORDS = "Say something in words: signs and emoji alone are no memory."


def normalise_text(text: str) -> str:
    """The text without case, spacing, accents' forms and the punctuation around its words.

    Signs that carry meaning stay: "C++" is not "C", and "-5" is not "5".
    """
    return " ".join(bare_words(unicodedata.normalize("NFKC", text).casefold()))


def bare_words(text: str) -> list[str]:
    """Its words without the punctuation around them, and without dashes between them."""
    words = (word.lstrip(_OPENING).rstrip(_CLOSING) or word for word in text.split())
    return [word for word in words if word not in _DASHES]


def dedupe_key(content: str, owner: Owner) -> bytes:
    """32 bytes that are equal for the same normalised text for the same owner."""
    whose = (owner.kind, owner.agent_id, owner.end_user_id, owner.project_id)
    parts = "|".join(str(part or "") for part in whose)
    return hashlib.sha256(f"{parts}|{normalise_text(content)}".encode()).digest()


def category_key(key: bytes, category: str) -> bytes:
    """The key of the same fact in that category, for where others' readers hold the first one."""
    return hashlib.sha256(key + f"|category:{category}".encode()).digest()


def payload_key(key: bytes, form: str, payload: Mapping[str, object]) -> bytes:
    """The key of the same words with that payload, for where another one holds the first."""
    told = json.dumps(payload, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(key + f"|{form}:{told}".encode()).digest()


def name_words(names: Iterable[str]) -> list[str]:
    """The distinct words of names, casefolded, in order: what a question may call somebody by."""
    words = (_WORD.findall(unicodedata.normalize("NFKC", name).casefold()) for name in names)
    return list(dict.fromkeys(word for each in words for word in each))


def speaker_of(text: str) -> str:
    """The name before the colon in a line of a transcript ("Caroline: I did it."), or nothing."""
    match = _SPEAKER.match(text)
    return match[1] if match else ""


def has_words(text: str) -> bool:
    """Whether a letter or a figure is among it: signs and emoji alone are no memory."""
    return any(char.isalnum() for char in text)


def is_blank(text: str) -> bool:
    """Whether nothing in the text can be read: empty, white space or control characters only."""
    return not any(char.isprintable() and not char.isspace() for char in text)
