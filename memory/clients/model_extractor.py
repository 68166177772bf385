"""The extractor that asks a language model, with the rules behind it."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from datetime import time as clock_time
from functools import partial

from memory.domain.extraction.dialogue import is_person_speaking
from memory.domain.extraction.guards import is_command
from memory.domain.ports import Extractor
from memory.domain.text import is_blank, normalise_text
from memory.domain.types import Candidate, MemoryType, Participants, Role, SourceMessage
from routing.clients.completions import (
    ChatMessage,
    CompletionError,
    FailureKind,
    StructuredCompletions,
)

from .extraction_prompts import (
    CATEGORIES,
    EXTRACTED_TYPES,
    MAX_MEMORY_CHARS,
    MIN_IMPORTANCE,
    SENSITIVE_FIELDS,
    ExtractedMemories,
    ProposedMemory,
    extraction_prompt,
    review_prompt,
)

logger = logging.getLogger(__name__)

# About 12,000 tokens: with rules, context and answer it fits the smaller models' 32k windows.
WINDOW_CHARS = 48_000
_CONTEXT_MESSAGES = 20
_SUBJECT = re.compile(r"[^\W_][\w-]*(?:\.[^\W_][\w-]*)*")
_MAX_SUBJECT = 200
_NEVER_STORED = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_SENTENCE_END = re.compile(r"[.!?](?=\s)")


@dataclass(frozen=True, slots=True)
class _Window:
    """A stretch of messages read at once; the first `overlap` of them were in the one before."""

    messages: tuple[SourceMessage, ...]
    before: tuple[SourceMessage, ...]
    overlap: int

    def noted_in(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """The candidates that rest on a message of this window."""
        own = {message.id for message in self.messages}
        return [candidate for candidate in candidates if own.intersection(candidate.message_ids)]


class ModelExtractor:
    """Extracts through `completions`, window by window; thread-safe.

    Where the model gives nothing usable, `fallback` does that window and its candidates say so
    in `extractor`. `reviewer`, when given, is the model of pass 2. `overlap` messages are read
    again with the next window. When an unavailable endpoint has cost more than
    `patience_seconds`, it is left alone for `rest_seconds`: a job must end before its lease does.
    """

    def __init__(
        self,
        *,
        completions: StructuredCompletions,
        fallback: Extractor,
        window_messages: int = 40,
        overlap: int = 4,
        reviewer: StructuredCompletions | None = None,
        patience_seconds: float = 10.0,
        rest_seconds: float = 60.0,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        if not 0 <= overlap < window_messages:
            raise ValueError("overlap must be at least 0 and smaller than window_messages")
        self.name = _name_of(completions)
        self._completions = completions
        self._reviewer = reviewer or completions
        self._fallback = fallback
        self._window_messages = window_messages
        self._overlap = overlap
        self._patience_seconds = patience_seconds
        self._rest_seconds = rest_seconds
        self._monotonic = monotonic
        # One for each endpoint; two threads that write at once cost at most one more request.
        self._rests_until: dict[StructuredCompletions, float] = {}

    def extract(
        self,
        *,
        messages: Sequence[SourceMessage],
        context: Sequence[SourceMessage],
        participants: Participants,
    ) -> list[Candidate]:
        """Pass 1: what `messages` say, each candidate once, with its exact sources."""
        found: list[Candidate] = []
        for window in self._windows(messages, context):
            found += self._ask(
                self._completions,
                window=window,
                prompt=extraction_prompt(
                    messages=window.messages,
                    context=window.before,
                    participants=participants,
                    noted=window.noted_in(found),
                ),
                participants=participants,
                extraction_pass=1,
                otherwise=partial(
                    self._fallback.extract,
                    messages=window.messages[window.overlap :],
                    context=[*window.before, *window.messages[: window.overlap]],
                    participants=participants,
                ),
            )
        return _merged(found)

    def review(
        self,
        *,
        messages: Sequence[SourceMessage],
        context: Sequence[SourceMessage],
        participants: Participants,
        first_pass: Sequence[Candidate],
    ) -> list[Candidate]:
        """Pass 2: what pass 1 missed or got wrong, none of it in pass 1's words."""
        found: list[Candidate] = []
        for window in self._windows(messages, context):
            noted = window.noted_in([*first_pass, *found])
            found += self._ask(
                self._reviewer,
                window=window,
                prompt=review_prompt(
                    messages=window.messages,
                    context=window.before,
                    participants=participants,
                    first_pass=noted,
                ),
                participants=participants,
                extraction_pass=2,
                otherwise=partial(
                    self._fallback.review,
                    messages=window.messages[window.overlap :],
                    context=[*window.before, *window.messages[: window.overlap]],
                    participants=participants,
                    first_pass=noted,
                ),
            )
        known = {normalise_text(candidate.content) for candidate in first_pass}
        return [memory for memory in _merged(found) if normalise_text(memory.content) not in known]

    def _ask(
        self,
        completions: StructuredCompletions,
        *,
        window: _Window,
        prompt: Sequence[ChatMessage],
        participants: Participants,
        extraction_pass: int,
        otherwise: Callable[[], list[Candidate]],
    ) -> list[Candidate]:
        """The model's candidates for a window, or what `otherwise` finds when it gives none."""
        started = self._monotonic()
        if started >= self._rests_until.get(completions, started):
            try:
                answer = completions.complete(schema=ExtractedMemories, messages=prompt)
            except CompletionError as error:
                self._note_failure(completions, error, started=started)
            else:
                proposals = (
                    _candidate(
                        proposal,
                        window=window,
                        participants=participants,
                        extraction_pass=extraction_pass,
                        extractor=_name_of(completions),
                    )
                    for proposal in answer.memories
                )
                return [candidate for candidate in proposals if candidate is not None]
        return [
            replace(candidate, extractor=candidate.extractor or self._fallback.name)
            for candidate in otherwise()
        ]

    def _note_failure(
        self, completions: StructuredCompletions, error: CompletionError, *, started: float
    ) -> None:
        level = logging.ERROR if error.kind is FailureKind.MISCONFIGURED else logging.WARNING
        logger.log(level, "%s extracts instead (%s): %s", self._fallback.name, error.kind, error)
        now = self._monotonic()
        if error.kind is FailureKind.UNAVAILABLE and now - started > self._patience_seconds:
            self._rests_until[completions] = now + self._rest_seconds

    def _windows(
        self, messages: Sequence[SourceMessage], context: Sequence[SourceMessage]
    ) -> Iterator[_Window]:
        """Windows that together cover each message, none too long for a model's context."""
        # Nobody says a system message: it configures an agent, and may hold memories we rendered.
        readable = [message for message in messages if message.role is not Role.SYSTEM]
        earlier = [message for message in context if message.role is not Role.SYSTEM]
        covered = 0
        while covered < len(readable):
            first = covered
            chars = 0
            while covered - first < min(self._overlap, covered):
                chars += len(readable[first - 1].content)
                if chars > WINDOW_CHARS // 4:
                    break
                first -= 1
            overlap = covered - first
            chars = sum(len(message.content) for message in readable[first : covered + 1])
            covered += 1
            while covered < len(readable) and covered - first < self._window_messages:
                chars += len(readable[covered].content)
                if chars > WINDOW_CHARS:
                    break
                covered += 1
            yield _Window(
                messages=tuple(readable[first:covered]),
                before=tuple([*earlier, *readable[:first]][-_CONTEXT_MESSAGES:]),
                overlap=overlap,
            )


def _name_of(completions: StructuredCompletions) -> str:
    return f"openai:{completions.model}"


def _candidate(
    proposal: ProposedMemory,
    *,
    window: _Window,
    participants: Participants,
    extraction_pass: int,
    extractor: str,
) -> Candidate | None:
    """The proposal within the house's bounds; None when it may not be stored."""
    count = len(window.messages)
    numbers = sorted({number for number in proposal.messages if 1 <= number <= count})
    sources = [window.messages[number - 1] for number in numbers]
    content = _bounded(proposal.content)
    importance = round(_within(proposal.importance, 1, 10))
    if not sources or is_blank(content) or is_command(text=content) or importance < MIN_IMPORTANCE:
        return None
    memory_type = _memory_type(proposal.type)
    if importance >= 9 and not any(
        is_person_speaking(message=source, participants=participants) for source in sources
    ):
        # What only an assistant or a tool said can be neither a wish to remember nor a core fact.
        importance = 8
    subject = _subject(proposal.subject)
    valid_from, valid_to = _validity(proposal)
    return Candidate(
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
    word = name.strip().lower().replace("-", "_")
    return MemoryType(word) if word in EXTRACTED_TYPES else MemoryType.SEMANTIC


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


def _merged(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Each text once, in order of first appearance, with all its sources and its best marks."""
    merged: dict[str, Candidate] = {}
    for candidate in candidates:
        key = normalise_text(candidate.content)
        first = merged.get(key)
        if first is None:
            merged[key] = candidate
            continue
        merged[key] = replace(
            first,
            importance=max(first.importance, candidate.importance),
            confidence=max(first.confidence, candidate.confidence),
            is_pinned=first.is_pinned or candidate.is_pinned,
            sensitive_field=first.sensitive_field or candidate.sensitive_field,
            message_ids=tuple(dict.fromkeys((*first.message_ids, *candidate.message_ids))),
        )
    return list(merged.values())
