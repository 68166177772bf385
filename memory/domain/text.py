"""Texts as the duplicate rules and the lexical signal read them."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from uuid import UUID

_WORD = re.compile(r"[^\W_]+(?:['’.][^\W_]+)*")
_SPACE = re.compile(r"\s+")

# Words too common to say what a question is about.
STOP_WORDS = frozenset(
    word
    for line in (
        "a about after all also am an and any are as at be been before being but by can could",
        "did do does doing done for from had has have having he her here hers him his how i",
        "if in into is it its just me more most my no nor not now of off on once only or",
        "other our ours out over own please same she should so some such tell than that the",
        "their theirs them then there these they this those through to too under until up us",
        "very was we were what when where which while who whom whose why will with would you",
        "your yours",
    )
    for word in line.split()
)


def normalise_text(text: str) -> str:
    """The text without case, punctuation, accents' forms and spacing: equal facts compare equal."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(_WORD.findall(folded)) or _SPACE.sub(" ", folded).strip()


def dedupe_key(
    content: str, *, agent_id: UUID | None, end_user_id: UUID | None, project_id: UUID | None
) -> bytes:
    """32 bytes that are equal for the same normalised text about the same owner."""
    owner = "|".join(str(part or "") for part in (agent_id, end_user_id, project_id))
    return hashlib.sha256(f"{owner}|{normalise_text(content)}".encode()).digest()


def query_terms(text: str, *, limit: int = 32) -> list[str]:
    """The distinct words of a question that carry meaning, in order, at most `limit`."""
    terms = dict.fromkeys(
        word for word in _WORD.findall(unicodedata.normalize("NFKC", text).casefold())
    )
    meaningful = [word for word in terms if word not in STOP_WORDS]
    return (meaningful or list(terms))[:limit]


def is_blank(text: str) -> bool:
    """Whether nothing in the text can be read: empty, white space or control characters only."""
    return not any(char.isprintable() and not char.isspace() for char in text)
