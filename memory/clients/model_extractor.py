"""The extractor that asks a language model, window by window, and falls back to the rules."""

from __future__ import annotations

import copy
import logging
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Self

from memory.domain.ports import Extractor
from memory.domain.text.normalise import normalise_text
from memory.domain.types import Asker, Candidate, Participants, PassWork, SourceMessage
from routing.clients.endpoints import EndpointRest
from routing.clients.protocol import ChatMessage, CompletionError, FailureKind
from routing.clients.structured_calls import StructuredCompletions
from routing.services.cost_guard import BudgetExceededError
from routing.services.paid_calls import PaidCall, Payer, Tariff, paid_call, payer_of, tokens_of

from .extracted_candidates import Proposed, merged, missing_sources, read_proposal
from .extraction_prompts import EXTRACTION_RULES, REVIEW_RULES, ExtractedMemories, extraction_prompt
from .extraction_windows import Window, windows_of

logger = logging.getLogger(__name__)

_PATIENCE_SECONDS, _REST_SECONDS = 10.0, 60.0
# The smaller models' context, in tokens.
CONTEXT_TOKENS = 32_768
# About how many tokens an answer takes: of each message, and at most.
_ANSWER_TOKENS_A_MESSAGE, _MOST_ANSWER_TOKENS = 250, 8_000


class ModelExtractor:
    """Extracts through `completions`, window by window; thread-safe.

    Where the model gives nothing usable, `fallback` does that window and its candidates say so
    in `extractor`; `telling` says so also of a window without any. `reviewer`, when given, is the
    model of pass 2. `overlap` messages are read again with the next window, which must add a
    message of its own to what it finds. `context_tokens` is how much the models read and write at
    once. When an unavailable endpoint has cost more than ten seconds, it is left alone for a
    minute. What the two models cost (`tariff`, `review_tariff`) is counted in the budgets of the
    asker that `telling` names; where these do not pay for a window, `fallback` does it.
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
        tariff: Tariff | None = None,
        review_tariff: Tariff | None = None,
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
        self._tariffs = {1: tariff, 2: review_tariff or tariff}
        self._note: Callable[[PassWork], object] = lambda _: None
        self._payer: Payer | None = None

    def telling(self, note: Callable[[PassWork], object], *, asker: Asker | None = None) -> Self:
        """The same extractor, which tells `note` who did each window of each pass.

        What its models cost is the asker's; call it in no transaction.
        """
        # A copy shares which endpoints are left alone.
        one = copy.copy(self)
        one._note = note
        if asker is not None:
            one._payer = payer_of(
                team_id=asker.team_id, agent_id=asker.agent_id, end_user_id=asker.end_user_id
            )
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
        began, call, asked = time.perf_counter(), PaidCall(), ""
        started = self._rests[completions].begin()
        problem = f"{completions.model}: no answer a moment ago"
        found: list[Candidate] | None = None
        read: list[Proposed] = []
        if started is not None:
            prompt = extraction_prompt(
                messages=window.messages,
                context=window.before,
                participants=participants,
                noted=noted,
                rules=EXTRACTION_RULES if is_first else REVIEW_RULES,
            )
            try:
                with self._paid(extraction_pass, completions, prompt, window) as call:
                    asked = _name_of(completions)
                    answer = completions.complete(
                        schema=ExtractedMemories,
                        messages=prompt,
                        on_usage=call.count,
                        fault=lambda answer: missing_sources(
                            answer=answer, count=len(window.messages)
                        ),
                    )
                    call.is_answered = True
            except BudgetExceededError as error:
                problem = f"over budget: {error}"
            except CompletionError as error:
                problem = f"{error.kind}: {error}"
                self._note_failure(completions, error, started=started)
            else:
                problem = ""
                read = [
                    read_proposal(
                        proposal=proposal,
                        messages=window.messages,
                        overlap=window.overlap,
                        participants=participants,
                        extraction_pass=extraction_pass,
                        extractor=_name_of(completions),
                    )
                    for proposal in answer.memories
                ]
                found = [candidate for each in read for candidate in each.candidates]
        if found is None:
            found = self._by_fallback(extraction_pass, window, participants, noted)
        self._note(
            PassWork(
                extraction_pass,
                self._fallback.name if problem else _name_of(completions),
                problem,
                asked=asked,
                messages=len(window.messages) - window.overlap,
                seconds=time.perf_counter() - began,
                cost_usd=call.cost_usd,
                refused=Counter(each.refused for each in read if each.refused),
                repaired=Counter(reason for each in read for reason in each.repaired),
            )
        )
        return found

    def _paid(
        self,
        extraction_pass: int,
        completions: StructuredCompletions,
        prompt: Sequence[ChatMessage],
        window: Window,
    ) -> AbstractContextManager[PaidCall]:
        written = _ANSWER_TOKENS_A_MESSAGE * (len(window.messages) + 1)
        return paid_call(
            payer=self._payer,
            tariff=self._tariffs[extraction_pass],
            model=completions.model,
            read=tokens_of(prompt),
            written=min(written, _MOST_ANSWER_TOKENS),
        )

    def _by_fallback(
        self,
        extraction_pass: int,
        window: Window,
        participants: Participants,
        noted: Sequence[Candidate],
    ) -> list[Candidate]:
        fresh = window.messages[window.overlap :]
        before = [*window.before, *window.messages[: window.overlap]]
        if extraction_pass == 1:
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
