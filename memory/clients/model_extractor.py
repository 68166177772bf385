"""The extractor that asks a language model and falls back to the rules."""

from __future__ import annotations

import copy
import logging
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Self

from memory.domain.ports import Extractor
from memory.domain.text.normalise import normalise_text
from memory.domain.types import Candidate, Participants, PassWork, SourceMessage
from routing.clients.endpoints import EndpointRest
from routing.clients.protocol import ChatMessage, CompletionError, FailureKind
from routing.clients.structured_calls import StructuredCompletions

from .extracted_candidates import candidates_of, merged, missing_sources
from .extraction_prompts import ExtractedMemories, extraction_prompt, review_prompt
from .extraction_windows import CONTEXT_TOKENS, Window, windows_of

logger = logging.getLogger(__name__)

_PATIENCE_SECONDS, _REST_SECONDS = 10.0, 60.0


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
        found: list[Candidate] = []
        for window in self._windows(messages, context):
            prompt = extraction_prompt(
                messages=window.messages,
                context=window.before,
                participants=participants,
                noted=window.noted_in(found),
            )
            otherwise = partial(self._fallback.extract, participants=participants)
            found += self._ask(self._completions, window, prompt, participants, 1, otherwise)
        return merged(candidates=found)

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
            prompt = review_prompt(
                messages=window.messages,
                context=window.before,
                participants=participants,
                first_pass=noted,
            )
            otherwise = partial(self._fallback.review, participants=participants, first_pass=noted)
            found += self._ask(self._reviewer, window, prompt, participants, 2, otherwise)
        known = {normalise_text(candidate.content) for candidate in first_pass}
        new = merged(candidates=found)
        return [memory for memory in new if normalise_text(memory.content) not in known]

    def _ask(
        self,
        completions: StructuredCompletions,
        window: Window,
        prompt: Sequence[ChatMessage],
        participants: Participants,
        extraction_pass: int,
        otherwise: Callable[..., list[Candidate]],
    ) -> list[Candidate]:
        """The model's candidates for a window, or what `otherwise` finds when it gives none."""
        started = self._rests[completions].begin()
        problem = f"{completions.model}: no answer a moment ago"
        if started is not None:
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
        return [
            replace(candidate, extractor=candidate.extractor or self._fallback.name)
            for candidate in otherwise(
                messages=window.messages[window.overlap :],
                context=[*window.before, *window.messages[: window.overlap]],
            )
        ]

    def _note_failure(
        self, completions: StructuredCompletions, error: CompletionError, *, started: float
    ) -> None:
        level = logging.ERROR if error.kind is FailureKind.MISCONFIGURED else logging.WARNING
        logger.log(level, "%s extracts instead (%s): %s", self._fallback.name, error.kind, error)
        self._rests[completions].note(error, started=started)

    def _windows(
        self, messages: Sequence[SourceMessage], context: Sequence[SourceMessage]
    ) -> Iterator[Window]:
        return windows_of(
            messages=messages,
            context=context,
            size=self._window_messages,
            overlap=self._overlap,
            context_tokens=self._context_tokens,
        )


def _name_of(completions: StructuredCompletions) -> str:
    return f"openai:{completions.model}"
