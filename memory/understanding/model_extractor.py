"""The extractor that asks a language model, window by window, and falls back to another one."""

from __future__ import annotations

import copy
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Self

from memory.domain.text.words import normalise_text
from memory.domain.types import (
    NO_FOCUS,
    Asker,
    Candidate,
    Focus,
    Participants,
    PassWork,
    Role,
    SourceMessage,
)
from memory.understanding.asked_model import AskedModel
from memory.understanding.extraction_prompts import (
    EXTRACTION_RULES,
    REVIEW_RULES,
    ExtractedMemories,
    Proposed,
    extraction_prompt,
    missing_sources,
    read_proposal,
)
from memory.understanding.ports import Extractor, ReviewingExtractor

# The smaller models' context, in tokens.
CONTEXT_TOKENS = 32_768
# About how many tokens an answer takes: of each message, and at most.
_ANSWER_TOKENS_A_MESSAGE, _MOST_ANSWER_TOKENS = 250, 8_000


class ModelExtractor:
    """Extracts through `model`, window by window; thread-safe.

    Where the model gives nothing usable, `fallback` does that window and its candidates say so
    in `extractor`; `telling` says so also of a window without any. Pass 2 is that of `reviewer`, by
    default the same model; a fallback that reads once leaves it out. `overlap` messages are read
    again with the next window, which must add a message of its own to what it finds.
    `context_tokens` is how much the models read and write at once.
    """

    def __init__(
        self,
        *,
        model: AskedModel,
        fallback: Extractor,
        window_messages: int = 40,
        overlap: int = 4,
        reviewer: AskedModel | None = None,
        context_tokens: int = CONTEXT_TOKENS,
    ) -> None:
        if not 0 <= overlap < window_messages:
            raise ValueError("overlap must be at least 0 and smaller than window_messages")
        self.name = model.name
        self._models = {1: model, 2: reviewer or model}
        self._fallback = fallback
        self._window_messages = window_messages
        self._overlap = overlap
        self._context_tokens = context_tokens
        self._note: Callable[[PassWork], object] = lambda _: None
        self._asker: Asker | None = None
        self._focus = NO_FOCUS

    def telling(
        self,
        note: Callable[[PassWork], object],
        *,
        asker: Asker | None = None,
        focus: Focus = NO_FOCUS,
    ) -> Self:
        """The same extractor, which tells `note` who did each window of each pass.

        What its models cost counts in the asker's budgets; where these do not pay for a window,
        the fallback does it. The `focus` stands in their prompts; the fallback does not know it.
        """
        other = copy.copy(self)
        other._note, other._asker, other._focus = note, asker, focus
        return other

    def extract(
        self,
        *,
        messages: Sequence[SourceMessage],
        context: Sequence[SourceMessage],
        participants: Participants,
    ) -> list[Candidate]:
        """Pass 1 over the messages; `context` is shown to the model but not extracted from."""
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
        return found

    def _ask(
        self,
        extraction_pass: int,
        window: Window,
        participants: Participants,
        noted: Sequence[Candidate],
    ) -> list[Candidate]:
        began, model = time.perf_counter(), self._models[extraction_pass]
        asked = model.ask(
            schema=ExtractedMemories,
            prompt=extraction_prompt(
                messages=window.messages,
                context=window.before,
                participants=participants,
                noted=noted,
                focus=self._focus,
                rules=EXTRACTION_RULES if extraction_pass == 1 else REVIEW_RULES,
            ),
            asker=self._asker,
            answer_tokens=min(
                _ANSWER_TOKENS_A_MESSAGE * (len(window.messages) + 1), _MOST_ANSWER_TOKENS
            ),
            is_limited=False,
            fault=lambda answer: missing_sources(answer=answer, count=len(window.messages)),
        )
        worker, read = model.name, list[Proposed]()
        if asked.answer is None:
            worker, found = self._by_fallback(extraction_pass, window, participants, noted)
        else:
            read = [
                read_proposal(
                    proposal=proposal,
                    messages=window.messages,
                    overlap=window.overlap,
                    participants=participants,
                    extraction_pass=extraction_pass,
                    extractor=model.name,
                )
                for proposal in asked.answer.memories
            ]
            found = [each.candidate for each in read if each.candidate is not None]
        self._note(
            PassWork(
                extraction_pass,
                worker,
                asked.problem,
                asked=model.name if asked.is_sent else "",
                messages=len(window.messages) - window.overlap,
                seconds=time.perf_counter() - began,
                cost_usd=asked.cost_usd,
                refused=Counter(each.refused for each in read if each.refused),
                repaired=Counter(reason for each in read for reason in each.repaired),
            )
        )
        return found

    def _by_fallback(
        self,
        extraction_pass: int,
        window: Window,
        participants: Participants,
        noted: Sequence[Candidate],
    ) -> tuple[str, list[Candidate]]:
        """The fallback's name and candidates; nobody's and none for a pass that it has not."""
        fresh = window.messages[window.overlap :]
        before = [*window.before, *window.messages[: window.overlap]]
        other = self._fallback
        if extraction_pass == 1:
            found = other.extract(messages=fresh, context=before, participants=participants)
        elif isinstance(other, ReviewingExtractor):
            found = other.review(
                messages=fresh, context=before, participants=participants, first_pass=noted
            )
        else:
            return "", []
        return other.name, [replace(each, extractor=each.extractor or other.name) for each in found]


# What a window may take of a model's context in characters leaves room for the rules, what was said
# before, what is known and the answer.
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
    lines = message.content.count("\n")
    return len(message.content) + _CHARS_AROUND_LINE * lines + _CHARS_AROUND_MESSAGE
