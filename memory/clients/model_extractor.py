"""The extractor that asks a language model, window by window, and falls back to the rules."""

from __future__ import annotations

import copy
import logging
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Self

from memory.domain.ports import Extractor
from memory.domain.text.normalise import normalise_text
from memory.domain.types import Candidate, Participants, PassWork, Role, SourceMessage
from routing.clients.endpoints import EndpointRest
from routing.clients.protocol import CompletionError, FailureKind
from routing.clients.structured_calls import StructuredCompletions

from .extracted_candidates import candidates_of, merged, missing_sources
from .extraction_prompts import EXTRACTION_RULES, REVIEW_RULES, ExtractedMemories, extraction_prompt

logger = logging.getLogger(__name__)

_PATIENCE_SECONDS, _REST_SECONDS = 10.0, 60.0
# The smaller models' context, in tokens; what a window may take of it in characters leaves room
# for the rules, what was said before, what is known and the answer.
CONTEXT_TOKENS = 32_768
_CHARS_OF_CONTEXT_TOKEN = 1.5
_CONTEXT_MESSAGES = 20
# What a prompt puts before each message and each further line of it.
_CHARS_AROUND_MESSAGE = 110
_CHARS_AROUND_LINE = 4


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of messages read at once; the first `overlap` of them were in the one before."""

    messages: tuple[SourceMessage, ...]
    before: tuple[SourceMessage, ...]
    overlap: int

    def noted_in(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """The candidates that rest on a message of this window."""
        own = {message.id for message in self.messages}
        return [candidate for candidate in candidates if own.intersection(candidate.message_ids)]


def windows_of(
    *,
    messages: Sequence[SourceMessage],
    context: Sequence[SourceMessage],
    size: int,
    overlap: int,
    context_tokens: int,
) -> Iterator[Window]:
    """Windows that together cover each message, none too long for a model's context.

    Each has at most `size` messages, up to `overlap` of which were in the one before.
    """
    # A system message configures the agent and may hold memories that we rendered.
    readable = [message for message in messages if message.role is not Role.SYSTEM]
    earlier = [message for message in context if message.role is not Role.SYSTEM]
    prices = [_price(message) for message in readable]
    room = int(context_tokens * _CHARS_OF_CONTEXT_TOKEN)
    covered = 0
    while covered < len(readable):
        first = covered
        chars = prices[covered]
        while covered - first < min(overlap, covered):
            again = sum(prices[first - 1 : covered])
            if again > room // 4 or again + chars > room:
                break
            first -= 1
        repeated = covered - first
        chars = sum(prices[first : covered + 1])
        covered += 1
        while covered < len(readable) and covered - first < size:
            chars += prices[covered]
            if chars > room:
                break
            covered += 1
        yield Window(
            messages=tuple(readable[first:covered]),
            before=tuple([*earlier, *readable[:first]][-_CONTEXT_MESSAGES:]),
            overlap=repeated,
        )


def _price(message: SourceMessage) -> int:
    """About how many characters of a prompt the message takes."""
    lines = message.content.count("\n")
    return len(message.content) + _CHARS_AROUND_LINE * lines + _CHARS_AROUND_MESSAGE


class ModelExtractor:
    """Extracts through `completions`, window by window; thread-safe.

    Where the model gives nothing usable, `fallback` does that window and its candidates say so
    in `extractor`; `telling` says so also of a window without any. `reviewer`, when given, is the
    model of pass 2. `overlap` messages are read again with the next window, which must add a
    message of its own to what it finds. `context_tokens` is how much the models read and write at
    once. When an unavailable endpoint has cost more than ten seconds, it is left alone for a
    minute.
    """

    def __init__(
        self,
        *,
        completions: StructuredCompletions,
        fallback: Extractor,
        window_messages: int = 40,
        overlap: int = 4,
        reviewer: StructuredCompletions | None = None,
        context_tokens: int = CONTEXT_TOKENS,
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
        self._context_tokens = context_tokens
        self._rests = {
            each: EndpointRest(
                patience_seconds=_PATIENCE_SECONDS, rest_seconds=_REST_SECONDS, monotonic=monotonic
            )
            for each in (completions, self._reviewer)
        }
        self._note: Callable[[PassWork], object] = lambda _: None

    def telling(self, note: Callable[[PassWork], object]) -> Self:
        """The same extractor, which tells `note` who did each window of each pass."""
        # A copy shares which endpoints are left alone.
        one = copy.copy(self)
        one._note = note
        return one

    def extract(
        self,
        *,
        messages: Sequence[SourceMessage],
        context: Sequence[SourceMessage],
        participants: Participants,
    ) -> list[Candidate]:
        """Pass 1: what `messages` say, each candidate once, with its exact sources."""
        return self._read(1, messages, context, participants, ())

    def review(
        self,
        *,
        messages: Sequence[SourceMessage],
        context: Sequence[SourceMessage],
        participants: Participants,
        first_pass: Sequence[Candidate],
    ) -> list[Candidate]:
        """Pass 2: what pass 1 missed or got wrong, none of it in pass 1's words."""
        new = self._read(2, messages, context, participants, first_pass)
        known = {normalise_text(candidate.content) for candidate in first_pass}
        return [memory for memory in new if normalise_text(memory.content) not in known]

    def _read(
        self,
        extraction_pass: int,
        messages: Sequence[SourceMessage],
        context: Sequence[SourceMessage],
        participants: Participants,
        first_pass: Sequence[Candidate],
    ) -> list[Candidate]:
        found: list[Candidate] = []
        for window in windows_of(
            messages=messages,
            context=context,
            size=self._window_messages,
            overlap=self._overlap,
            context_tokens=self._context_tokens,
        ):
            noted = window.noted_in([*first_pass, *found])
            found += self._ask(extraction_pass, window, participants, noted)
        return merged(candidates=found)

    def _ask(
        self,
        extraction_pass: int,
        window: Window,
        participants: Participants,
        noted: Sequence[Candidate],
    ) -> list[Candidate]:
        """The model's candidates for a window, or the fallback's when it gives none."""
        is_first = extraction_pass == 1
        completions = self._completions if is_first else self._reviewer
        started = self._rests[completions].begin()
        problem = f"{completions.model}: no answer a moment ago"
        if started is not None:
            prompt = extraction_prompt(
                messages=window.messages,
                context=window.before,
                participants=participants,
                noted=noted,
                rules=EXTRACTION_RULES if is_first else REVIEW_RULES,
            )
            try:
                answer = completions.complete(
                    schema=ExtractedMemories,
                    messages=prompt,
                    fault=lambda answer: missing_sources(answer=answer, count=len(window.messages)),
                )
            except CompletionError as error:
                problem = f"{error.kind}: {error}"
                self._note_failure(completions, error, started=started)
            else:
                self._note(PassWork(extraction_pass, _name_of(completions)))
                return [
                    memory
                    for proposal in answer.memories
                    for memory in candidates_of(
                        proposal=proposal,
                        messages=window.messages,
                        overlap=window.overlap,
                        participants=participants,
                        extraction_pass=extraction_pass,
                        extractor=_name_of(completions),
                    )
                ]
        self._note(PassWork(extraction_pass, self._fallback.name, problem))
        fresh = window.messages[window.overlap :]
        before = [*window.before, *window.messages[: window.overlap]]
        if is_first:
            found = self._fallback.extract(
                messages=fresh, context=before, participants=participants
            )
        else:
            found = self._fallback.review(
                messages=fresh, context=before, participants=participants, first_pass=noted
            )
        return [replace(each, extractor=each.extractor or self._fallback.name) for each in found]

    def _note_failure(
        self, completions: StructuredCompletions, error: CompletionError, *, started: float
    ) -> None:
        level = logging.ERROR if error.kind is FailureKind.MISCONFIGURED else logging.WARNING
        logger.log(level, "%s extracts instead (%s): %s", self._fallback.name, error.kind, error)
        self._rests[completions].note(error, started=started)


def _name_of(completions: StructuredCompletions) -> str:
    return f"openai:{completions.model}"
