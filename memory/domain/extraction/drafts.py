"""A memory in the making, and its last steps to a candidate that meets the writing constraints."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time
from uuid import UUID

from ..secrets import mask_secrets
from ..types import Candidate, MemoryType
from .days.moments import FoundDate, Precision, month_day
from .kinds.labels import Label
from .language.names import names_in
from .language.verbs import THIRD
from .language.words import (
    COMMON_OPENERS,
    KIN,
    MONTHS,
    NUMBER_WORDS,
    WEEKDAYS,
    capitalised,
    content_words,
    words_of,
)

MAX_CHARS = 280
_MIN_IMPORTANCE = 3
_ALWAYS_CAPITAL = frozenset({*MONTHS, *WEEKDAYS})
CLAUSE_END = re.compile(r"[;,:]\s|\s(?:and|but|because|so|which|who|while)\s")
_VALUES = frozenset({*MONTHS, *WEEKDAYS, *NUMBER_WORDS})
_WITHOUT_WHICH = re.compile(r",\s(?:which|who)\s[^,]{10,160}(?=,\s)")
_FRAMING = re.compile(r"^(?:On [A-Z][a-z]+ \d{1,2}, \d{4}, |[A-Z]\w+ said: |For [^,]{3,50}, )+")
# "Dana's dad was a strict man": what somebody is or was is no event of the day it is told.
_WAS_ONE = re.compile(
    rf"[A-Z][\w-]+(?:['’]s\s(?:\w+\s)?(?:{'|'.join(sorted(KIN))})(?:\s[A-Z]\w+)?)?\s(?:was|were)\s(?:an?|always|never|very)\s"
    r"|[A-Z][\w-]+\sis\san?\s[\w-]+"
    r"|[A-Z][^,;]{1,50}\s(?:was|were)\s(?:born|raised|buried)\s"
    r"|[A-Z][^,;]{2,40}['’]s\sname\swas\s|[^,;]{3,40}\s(?:has|have)\s[^,;]*\ssince\s"
)


@dataclass(frozen=True, slots=True)
class Draft:
    """A sentence with its label and sources; `turn` is where its own message stands."""

    text: str
    label: Label
    sources: tuple[UUID, ...]
    turn: int
    at: datetime
    owner: str = ""
    about: str = ""
    dates: tuple[FoundDate, ...] = ()
    clause: str = ""
    corrects: str | None = None


def merged_sources(*groups: Iterable[UUID]) -> tuple[UUID, ...]:
    """All ids once, in order of first appearance."""
    seen: dict[UUID, None] = {}
    for group in groups:
        seen.update(dict.fromkeys(group))
    return tuple(seen)


def sentence(text: str) -> str:
    """One clean sentence: single spaces, a capital, an end mark, at most 280 characters."""
    text = re.sub(r"\s+([,.;:!?])", r"\1", " ".join(text.split()))
    text = re.sub(r",(?=[,.;])", "", text).strip(" ,;:-–—")
    text = re.sub(r"[.!]{2,}$|!$", ".", text)
    text = capitalised(text)
    if len(text) > MAX_CHARS:
        # A secret that is cut in two would not be known for one.
        text = mask_secrets(text=text)
    if len(text) > MAX_CHARS:
        text = _WITHOUT_WHICH.sub("", text)
    if len(text) > MAX_CHARS:
        text = shortened(text)
    elif text and text[-1] not in '.?!…"”':
        text += "."
    return text[:MAX_CHARS]


def shortened(text: str) -> str:
    """A sentence cut to 280 characters: where a clause ends, else between words with "…"."""
    ends = [match.start() for match in CLAUSE_END.finditer(text, 0, MAX_CHARS)]
    if ends and ends[-1] >= MAX_CHARS // 3:
        return text[: ends[-1]].rstrip(" ,;:-–—.") + "."
    cut = text[: MAX_CHARS - 1]
    space = cut.rfind(" ")
    return cut[: space if space > MAX_CHARS // 2 else len(cut)].rstrip(" ,;:-–—.") + "…"


def lowered(text: str, *, owner: str = "") -> str:
    """The text as the continuation of a sentence: a name, `owner` among them, keeps its capital."""
    first = text.split(" ", 1)[0].strip(",.:;")
    word = re.sub(r"['’]s$", "", first)
    named = names_in(text[:60])
    following = words_of(text[len(first) : len(first) + 20])[:1]
    keep = (
        (
            following
            and following[0] in THIRD
            and first.isalpha()
            and not first.endswith("s")
            and first.lower() not in COMMON_OPENERS
        )
        or (named and text.startswith(named[0].split()[0]))
        or first[1:] != first[1:].lower()
        or any(char.isdigit() for char in first)
        or (first != word and word.lower() not in COMMON_OPENERS)
        or word.lower() in _ALWAYS_CAPITAL
        or first == "I"
        or (bool(owner) and word == owner.split()[0])
    )
    return text if keep else text[:1].lower() + text[1:]


def dated(draft: Draft) -> Draft:
    """An episode that names no date opens with the day it was told."""
    if (
        draft.label.memory_type is not MemoryType.EPISODIC
        or draft.dates
        or re.search(r"\b(?:19|20)\d\d\b", draft.text)
        or _WAS_ONE.match(draft.text)
    ):
        return draft
    text = draft.text
    return replace(
        draft, text=f"On {month_day(draft.at.date())}, {lowered(text, owner=draft.owner)}"
    )


def _slug(text: str) -> str:
    """The first three words that say what a text is about; its figures and dates are values."""
    bare = (re.sub(r"'s$", "", word) for word in content_words(text))
    words = [word for word in bare if word.isascii() and not _is_value(word)][:3]
    return "_".join(re.sub(r"[^a-z0-9]+", "_", word).strip("_") for word in words) or "general"


def _is_value(word: str) -> bool:
    return word[0].isdigit() or word in _VALUES


def _subject(draft: Draft) -> str:
    """Dot notation of what it is about, made of its words without any secret."""
    attribute = draft.label.attribute or "fact"
    if attribute == "about":
        return f"user.about.{_slug(mask_secrets(text=draft.clause or draft.text))}"
    if draft.label.memory_type is MemoryType.USER_PROFILE or attribute.startswith("profile."):
        return f"user.{attribute}"
    if draft.label.category == "preferences":
        clause = mask_secrets(text=draft.clause or draft.text)
        return f"user.preference.{_slug(' '.join(words_of(clause)[-4:]))}"
    if draft.about:
        return f"project.{_slug(draft.about)}.{attribute}"
    return f"{attribute}.{_slug(_FRAMING.sub('', mask_secrets(text=draft.text)))}"


def _valid_from(draft: Draft) -> datetime | None:
    exact = [
        found.day
        for found in draft.dates
        if found.precision in {Precision.CALENDAR, Precision.RELATIVE}
    ]
    return datetime.combine(exact[0], time(), tzinfo=UTC) if exact else None


def to_candidate(
    *, draft: Draft, extraction_pass: int, allowed: frozenset[UUID]
) -> Candidate | None:
    """The finished candidate, or None where nothing worth storing remains.

    Only messages in `allowed` count as sources.
    """
    label = draft.label
    sources = tuple(source for source in draft.sources if source in allowed)
    content = sentence(draft.text)
    if not sources or label.importance < _MIN_IMPORTANCE or len(content) < 8:
        return None
    category = "technical_fact" if label.category == "fact" else label.category
    return Candidate(
        content=content,
        memory_type=label.memory_type,
        importance=min(10, label.importance),
        confidence=label.confidence,
        message_ids=sources,
        subject=_subject(draft)[:120],
        category=category,
        is_pinned=label.pinned,
        extraction_pass=extraction_pass,
        sensitive_field=label.sensitive,
        valid_from=_valid_from(draft),
        corrects=draft.corrects,
    )
