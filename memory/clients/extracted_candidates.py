"""Turns a model's proposals into candidates that may be stored."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from datetime import time as clock_time

from memory.domain.prompt_guards import is_command, without_rendered_memory
from memory.domain.text.normalise import is_blank, name_words, normalise_text
from memory.domain.text.sentences import split_sentences
from memory.domain.text.stop_words import STOP_WORDS
from memory.domain.types import Candidate, MemoryType, Participants, SourceMessage
from memory.domain.wording import MAX_SENTENCES

from .extraction_prompts import (
    CATEGORIES,
    EXTRACTED_TYPES,
    MAX_MEMORY_CHARS,
    MIN_IMPORTANCE,
    NONE,
    SENSITIVE_FIELDS,
    ExtractedMemories,
    ProposedMemory,
)

_SUBJECT = re.compile(r"[^\W_][\w-]*(?:\.[^\W_][\w-]*)*")
_MAX_SUBJECT = 200
_NEVER_STORED = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_LEANS = re.compile(
    r"(?:he|she|it|they|this|that|these|those|his|her|its|their|there|then|and|but|so)\b",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.!?](?=\s)")


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
    """What became of a model's proposal: its candidates, and in words what was wrong with it.

    `refused` says why there are none, and is "" where there are some or where the window before
    had the same messages; each of `repaired` was put right.
    """

    candidates: tuple[Candidate, ...] = ()
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
    content = _bounded(proposal.content)
    importance = round(_within(proposal.importance, 1, 10))
    if numbers and numbers[-1] <= overlap:
        # The window before extracted from these messages.
        return Proposed()
    if refused := _refusal(content, sources, importance):
        return Proposed(refused=refused)
    memory_type = _memory_type(proposal.type)
    if importance >= 9 and not any(participants.is_person(source) for source in sources):
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
    )
    parts = _in_memories(candidate, participants)
    repaired = [*_put_right(proposal, candidate, count)]
    if len(parts) > 1:
        repaired.append("several facts in one")
    return Proposed(tuple(parts), repaired=tuple(repaired))


def _refusal(content: str, sources: Sequence[SourceMessage], importance: int) -> str:
    """Why nothing of a proposal may be stored, or ""."""
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
    if len(" ".join(_NEVER_STORED.sub("", proposal.content).split())) > MAX_MEMORY_CHARS:
        yield "too long"
    if not 1 <= proposal.importance <= 10:
        yield "importance out of range"
    elif round(proposal.importance) != candidate.importance:
        yield "importance of what no person said"
    if not 0 <= proposal.confidence <= 1:
        yield "confidence out of range"
    given = {
        "type": (proposal.type, _word(proposal.type) in EXTRACTED_TYPES),
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


def _in_memories(candidate: Candidate, participants: Participants) -> list[Candidate]:
    """The candidate as memories of its own sentences, where each of these stands alone.

    Where all sentences open with the same word or with a name of those who talk, each is a memory.
    Of others, two sentences stay together, as do the steps of a procedure; of more, at most two go
    into a memory, so that none is lost, unless a later one leans on the first ones ("She …"): then
    it stays whole, and is cut by what checks the wording of memories.
    """
    said = [sentence.text for sentence in split_sentences(candidate.content)]
    if len(said) > 1 and _stand_alone(said, candidate, participants):
        return [replace(candidate, content=sentence) for sentence in said]
    later = said[MAX_SENTENCES::MAX_SENTENCES]
    if not later or any(_LEANS.match(sentence) for sentence in later):
        return [candidate]
    parts = (said[at : at + MAX_SENTENCES] for at in range(0, len(said), MAX_SENTENCES))
    return [replace(candidate, content=" ".join(part)) for part in parts]


def _stand_alone(
    sentences: Sequence[str], candidate: Candidate, participants: Participants
) -> bool:
    """Whether each sentence says itself what it is about, in a name."""
    if candidate.memory_type is MemoryType.PROCEDURAL:
        return False
    first = name_words(sentences[0].split()[:1])
    known = {*name_words((participants.user or "User",)), *name_words((participants.agent,))}
    is_name = bool(first) and sentences[0][:1].isupper() and not STOP_WORDS.intersection(first)
    openings = {*known, *(first if is_name else ())}
    return all(openings.intersection(name_words(each.split()[:1])) for each in sentences)


def _within(value: float, low: float, high: float) -> float:
    return max(low, min(high, value))


def _bounded(text: str) -> str:
    """The text on one line, cut at a sentence's end, else at a word, to the length of a memory."""
    line = " ".join(_NEVER_STORED.sub("", text).split())
    if len(line) <= MAX_MEMORY_CHARS:
        return line
    ends = [match.end() for match in _SENTENCE_END.finditer(line[: MAX_MEMORY_CHARS + 1])]
    # An early stop is more likely an abbreviation, and would throw most of the text away.
    if ends and ends[-1] > MAX_MEMORY_CHARS // 3:
        return line[: ends[-1]]
    return line[: MAX_MEMORY_CHARS - 1].rsplit(" ", 1)[0] + "…"


def _memory_type(name: str) -> MemoryType:
    word = _word(name)
    return MemoryType(word) if word in EXTRACTED_TYPES else MemoryType.SEMANTIC


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
    """From the first day's start to the last day's end, UTC; what is no date is left open."""
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


def merged(*, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Each text once, in order of first appearance, with all its sources and its best marks."""
    found: dict[str, Candidate] = {}
    for candidate in candidates:
        key = normalise_text(candidate.content)
        first = found.get(key)
        if first is None:
            found[key] = candidate
            continue
        found[key] = replace(
            first,
            importance=max(first.importance, candidate.importance),
            confidence=max(first.confidence, candidate.confidence),
            is_pinned=first.is_pinned or candidate.is_pinned,
            sensitive_field=first.sensitive_field or candidate.sensitive_field,
            message_ids=tuple(dict.fromkeys((*first.message_ids, *candidate.message_ids))),
        )
    return list(found.values())
