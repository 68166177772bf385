"""Where a memory is filed: subject path, category, sensitive field and validity."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime

from memory.domain.secrets import mask_secrets
from memory.domain.text.written_dates import WrittenDate
from memory.domain.types import MemoryType

from ..lexicon import word_set
from .evidence import Seen
from .grammar import CLOSED, GREETINGS, Tense, tokens_of
from .profile import SENSITIVE_FIELDS, SEVERAL_VALUES, attribute_of

_WORDS_OF_SUBJECT = 3
_LONGEST_SUBJECT = 120
_NOT_IN_PATHS = re.compile(r"[^a-z0-9]+")
_AREAS = {
    MemoryType.EPISODIC: "event",
    MemoryType.PROCEDURAL: "procedure",
    MemoryType.SEMANTIC: "fact",
    MemoryType.USER_PROFILE: "user.about",
}
_NEWNESS = word_set("talk/newness")
_TASTE = re.compile(
    r"\b(?:prefer|like|love|hate|enjoy|dislike|can't stand|cannot stand|rather|favou?rite|fond of|"
    r"detest|can't bear|allergic)\b"
)


def subject_of(seen: Seen, kind: MemoryType) -> str:
    """A dot path of what the memory is about; statements about one matter share theirs."""
    attribute = attribute_of(seen.clause)
    if kind is MemoryType.USER_PROFILE and attribute and seen.statement.turn.is_user:
        area = f"user.profile.{attribute}"
        return _path(area, seen) if attribute in SEVERAL_VALUES else area
    if _is_taste(seen) and seen.statement.turn.is_user:
        return _path("user.preference", seen)
    return _path(_AREAS[kind], seen)


def category_of(seen: Seen, evidence: frozenset[str], kind: MemoryType) -> str:
    """The team vocabulary's category that fits best."""
    if kind is MemoryType.USER_PROFILE:
        return "profile"
    if "decision" in evidence:
        return "decision"
    if _is_taste(seen) or (seen.request is not None and "request lasting" in evidence):
        return "preferences"
    if kind is MemoryType.EPISODIC:
        failed = "cue failures" in evidence and seen.tense is not Tense.FUTURE
        return "failure" if failed else "event"
    if "obliged" in evidence:
        return "constraint"
    if kind is MemoryType.PROCEDURAL or "habit" in evidence:
        return "convention"
    return "technical_fact"


def sensitive_field_of(seen: Seen, kind: MemoryType) -> str:
    """The field of the user's profile that the memory would change, "" for none."""
    if kind is not MemoryType.USER_PROFILE or not seen.statement.turn.is_user:
        return ""
    return SENSITIVE_FIELDS.get(attribute_of(seen.clause), "")


def validity_of(dates: Sequence[WrittenDate]) -> tuple[datetime | None, datetime | None]:
    """From when and until when the words say that it holds ("since May", "until Friday"), UTC.

    The end is the moment behind the last day.
    """
    first: datetime | None = None
    last: datetime | None = None
    for each in dates:
        if not each.has_year:
            continue
        if each.expression.side == "since":
            first = each.expression.first.astimezone(UTC)
        elif each.expression.side == "until":
            last = each.expression.last.astimezone(UTC)
    return (None, None) if first and last and last <= first else (first, last)


def _is_taste(seen: Seen) -> bool:
    own = seen.low.startswith(("i ", "i'", "my "))
    return own and _TASTE.search(seen.low) is not None


def _path(area: str, seen: Seen) -> str:
    """The area with the first words that carry meaning; "new" names no other matter."""
    names = {part.lower() for name in seen.names for part in name.split()}
    speaker = {part.lower() for part in seen.statement.turn.voices.speaker.split()}
    words = [
        token.lower
        for token in tokens_of(mask_secrets(text=seen.statement.text))
        if token.is_word
        and token.lower not in CLOSED
        and token.lower not in GREETINGS
        and token.lower not in speaker
        and token.lower not in _NEWNESS
        and (len(token.lower) > 2 or token.lower in names)
        and not _TASTE.fullmatch(token.lower)
    ]
    clean = [_NOT_IN_PATHS.sub("_", word).strip("_") for word in words[:_WORDS_OF_SUBJECT]]
    tail = "_".join(word for word in clean if word)
    return f"{area}.{tail}"[:_LONGEST_SUBJECT].rstrip("._") if tail else area
