"""Turns a model's proposals into candidates: their words are accepted or refused, never edited."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from datetime import time as clock_time

from memory.domain.prompt_guards import is_command, without_rendered_memory
from memory.domain.text.words import is_blank
from memory.domain.types import Candidate, MemoryType, Participants, SourceMessage
from memory.understanding.extraction_prompts import (
    AUDIENCES,
    CATEGORIES,
    EXTRACTED_TYPES,
    MIN_IMPORTANCE,
    NONE,
    SENSITIVE_FIELDS,
    ExtractedMemories,
    ProposedMemory,
)

_SUBJECT = re.compile(r"[^\W_][\w-]*(?:\.[^\W_][\w-]*)*")
_MAX_SUBJECT = 200
_NEVER_STORED = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_AUDIENCE_OF_TYPE = {MemoryType.SHARED: "team", MemoryType.AGENT_PRIVATE: "agent"}


def missing_sources(*, answer: ExtractedMemories, count: int) -> str:
    """What to tell a model none of whose memories names one of its `count` messages; else ""."""
    numbers = [number for memory in answer.memories for number in memory.messages]
    if not answer.memories or any(1 <= number <= count for number in numbers):
        return ""
    return (
        "No memory names a message that it comes from: `messages` must hold the numbers in square"
        f" brackets, from 1 to {count}."
    )


@dataclass(frozen=True, slots=True)
class Proposed:
    """The candidate of a model's proposal, and in words what was wrong with the proposal.

    `refused` says why there is no candidate, and is "" where there is one or where the window
    before had the same messages; `repaired` are the fields beside its text that were put right.
    """

    candidate: Candidate | None = None
    refused: str = ""
    repaired: tuple[str, ...] = ()


def read_proposal(
    *,
    proposal: ProposedMemory,
    messages: Sequence[SourceMessage],
    overlap: int,
    participants: Participants,
    extraction_pass: int,
    extractor: str,
) -> Proposed:
    """The proposal within the bounds of what is stored, or why it may not be stored.

    Its message numbers count `messages` from 1; the first `overlap` of them were read before.
    """
    count = len(messages)
    numbers = sorted({number for number in proposal.messages if 1 <= number <= count})
    sources = [messages[number - 1] for number in numbers]
    content = " ".join(_NEVER_STORED.sub("", proposal.content).split())
    importance = round(_within(proposal.importance, 1, 10))
    if numbers and numbers[-1] <= overlap:
        # The window before extracted from these messages.
        return Proposed()
    if refused := _refusal(content, sources, importance):
        return Proposed(refused=refused)
    memory_type = _memory_type(proposal.type)
    is_persons = any(participants.is_person(source) for source in sources)
    if importance >= 9 and not is_persons:
        # Only a person can ask to remember something or state a core fact about themselves.
        importance = 8
    subject = _subject(proposal.subject)
    valid_from, valid_to = _validity(proposal)
    candidate = Candidate(
        content=content,
        memory_type=memory_type,
        importance=importance,
        confidence=_within(proposal.confidence, 0.0, 1.0),
        message_ids=tuple(source.id for source in sources),
        subject=subject,
        category=proposal.category if proposal.category in CATEGORIES else "",
        is_pinned=importance == 10 or (importance == 9 and memory_type is MemoryType.USER_PROFILE),
        extraction_pass=extraction_pass,
        sensitive_field=_sensitive_field(proposal, memory_type=memory_type, subject=subject),
        valid_from=valid_from,
        valid_to=valid_to,
        extractor=extractor,
        audience=_audience(proposal, memory_type=memory_type, is_persons=is_persons),
    )
    return Proposed(candidate, repaired=tuple(_put_right(proposal, candidate, count)))


def _audience(proposal: ProposedMemory, *, memory_type: MemoryType, is_persons: bool) -> str:
    """The narrower of the audience and what the type implies; the team's only from a person."""
    named = {_AUDIENCE_OF_TYPE.get(memory_type, ""), _one_of(AUDIENCES, proposal.audience)}
    narrowest = next((each for each in AUDIENCES if each in named), "")
    return "person" if narrowest == "team" and not is_persons else narrowest


def _refusal(content: str, sources: Sequence[SourceMessage], importance: int) -> str:
    if not sources:
        return "no known message"
    if is_blank(content):
        return "empty"
    if is_command(text=content):
        return "a command to the memory"
    if importance < MIN_IMPORTANCE:
        return "too unimportant"
    if without_rendered_memory(text=content) != content:
        # A memory from one of our prompts, read back as if it had been said.
        return "a memory read back"
    return ""


def _put_right(proposal: ProposedMemory, candidate: Candidate, count: int) -> Iterator[str]:
    """What of the proposal's fields is not stored as the model gave it."""
    if any(not 1 <= number <= count for number in proposal.messages):
        yield "unknown message"
    if not 1 <= proposal.importance <= 10:
        yield "importance out of range"
    elif round(proposal.importance) != candidate.importance:
        yield "importance of what no person said"
    if not 0 <= proposal.confidence <= 1:
        yield "confidence out of range"
    given = {
        "type": (proposal.type, _word(proposal.type) in EXTRACTED_TYPES),
        "audience": (proposal.audience, bool(candidate.audience)),
        "subject": (proposal.subject, bool(candidate.subject)),
        "category": (proposal.category, bool(candidate.category)),
        "sensitive field": (
            proposal.sensitive_field,
            proposal.sensitive_field in SENSITIVE_FIELDS,
        ),
        "first day": (proposal.valid_from, candidate.valid_from is not None),
        "last day": (proposal.valid_to, candidate.valid_to is not None),
    }
    for name, (value, is_kept) in given.items():
        if value.strip() and _word(value) != NONE and not is_kept:
            yield f"unknown {name}"


def _within(value: float, low: float, high: float) -> float:
    return max(low, min(high, value))


def _memory_type(name: str) -> MemoryType:
    return MemoryType(_one_of(EXTRACTED_TYPES, name) or MemoryType.SEMANTIC)


def _one_of(known: Sequence[str], value: str) -> str:
    word = _word(value)
    return word if word in known else ""


def _word(value: str) -> str:
    return value.strip().lower().replace("-", "_")


def _subject(path: str) -> str:
    tidy = re.sub(r"\s+", "_", path.strip().lower())
    return tidy if len(tidy) <= _MAX_SUBJECT and _SUBJECT.fullmatch(tidy) else ""


def _sensitive_field(proposal: ProposedMemory, *, memory_type: MemoryType, subject: str) -> str:
    """The profile field that needs consent, also where the model named it in the subject only."""
    if proposal.sensitive_field in SENSITIVE_FIELDS:
        return proposal.sensitive_field
    last = subject.rpartition(".")[2]
    is_profile = memory_type is MemoryType.USER_PROFILE and subject.startswith("user.")
    return last if is_profile and last in SENSITIVE_FIELDS else ""


def _validity(proposal: ProposedMemory) -> tuple[datetime | None, datetime | None]:
    first, last = _day(proposal.valid_from), _day(proposal.valid_to)
    if first and last and last < first:
        return None, None
    return first, last + timedelta(days=1) if last else None


def _day(text: str) -> datetime | None:
    try:
        day = date.fromisoformat(text.strip()[:10])
    except ValueError:
        return None
    # Models write such years for "always" and "for ever".
    if not 1900 <= day.year < 2200:
        return None
    return datetime.combine(day, clock_time(), tzinfo=UTC)
