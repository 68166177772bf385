"""Answers of a model, whole or streamed, with their usage and cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal, Self
from uuid import UUID

from routing.clients.breaker import Breaker, Permit
from routing.clients.chat_calls import ChatError, ChatRequest, ChunkStream
from routing.domain.budgets import Usage
from routing.domain.chat_answers import (
    Gathered,
    Json,
    counted_usage,
    is_only_usage,
    tokens_of_message,
    tokens_of_request,
)
from routing.domain.choices import ModelChoice
from routing.services.decisions import Attempt, Keep, Outcome, note_outcome
from teams.errors import UnavailableError


class StreamCutError(UnavailableError):
    """The endpoint broke off in the middle of an answer, where no other model can go on."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer: the protocol's `chat.completion` as the endpoint gave it.

    `usage` is the endpoint's own count unless `is_estimated`; `cost_usd` is at the model's prices.
    """

    body: Json
    choice: ModelChoice
    attempts: tuple[Attempt, ...]
    usage: Usage
    is_estimated: bool

    @property
    def cost_usd(self) -> Decimal:
        """What it cost."""
        return _cost_of(self.usage, self.choice)


@dataclass(frozen=True, slots=True)
class Call:
    """What a stream must know of the call it belongs to."""

    team_id: UUID
    decision_id: UUID
    request: ChatRequest
    choice: ModelChoice
    attempts: tuple[Attempt, ...]
    permit: Permit

    def ended(self, outcome: Literal["answered", "cut"], *, cost_usd: Decimal) -> Outcome:
        """What is to be written down of it."""
        return Outcome(
            self.team_id, self.decision_id, outcome, self.choice, self.attempts, cost_usd
        )


class AnswerStream:
    """An answer that is under way: iterate once over the protocol's `chat.completion.chunk`s.

    Use it as a context manager, or `close` it: that also stops the model when the reader goes away.
    Outcome and cost are given to `keep` when it ends, however it ends.
    """

    def __init__(
        self, *, chunks: ChunkStream, call: Call, breaker: Breaker, keep: Keep = note_outcome
    ) -> None:
        self.choice = call.choice
        self.attempts = call.attempts
        self._chunks = chunks
        self._call = call
        self._breaker = breaker
        self._keep = keep
        self._gathered = Gathered()
        self._is_ended = False
        options = call.request.parameters.get("stream_options")
        self._shows_usage = isinstance(options, dict) and options.get("include_usage") is True

    def __iter__(self) -> Iterator[Json]:
        """The chunks as they come; the one with nothing but usage only where it was asked for.

        Raises StreamCutError when the endpoint breaks off.
        """
        try:
            for chunk in self._chunks:
                self._gathered.add(chunk)
                if self._shows_usage or not is_only_usage(chunk):
                    yield chunk
        except ChatError as error:
            self._end("cut", self._breaker.failed)
            raise StreamCutError(f"{self.choice.name} broke off: {error}.") from None
        if self._gathered.finish_reason is None:
            self._end("cut", self._breaker.failed)
            raise StreamCutError(f"{self.choice.name} broke off before the end of its answer.")
        self._end("answered", self._breaker.succeeded)

    def close(self) -> None:
        """Read no further; harmless when it has ended, and twice."""
        is_whole = self._gathered.finish_reason is not None
        self._end("answered" if is_whole else "cut", self._breaker.succeeded)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def message(self) -> Json:
        """The assistant's message as far as it has come: role, content, tool_calls."""
        return self._gathered.message

    @property
    def finish_reason(self) -> str | None:
        """Why the model stopped; None while it has not."""
        return self._gathered.finish_reason

    @property
    def usage(self) -> Usage:
        """The endpoint's count once it has come, until then an estimate of what has been used."""
        return _usage_of(self._call, self._gathered.usage, self.message)

    @property
    def is_estimated(self) -> bool:
        """Whether `usage` is an estimate."""
        return self._gathered.usage is None

    @property
    def cost_usd(self) -> Decimal:
        """What it has cost so far."""
        return _cost_of(self.usage, self.choice)

    def _end(self, outcome: Literal["answered", "cut"], tell: Callable[[Permit], None]) -> None:
        if self._is_ended:
            return
        self._is_ended = True
        self._chunks.close()
        tell(self._call.permit)
        self._keep(self._call.ended(outcome, cost_usd=self.cost_usd))


def whole_answer(*, body: Json, call: Call) -> Answer:
    """The answer of a body, with its usage as counted or as estimated."""
    counted = counted_usage(body.get("usage"))
    message: Any = body["choices"][0]["message"]  # Any: checked to be there, of any shape
    return Answer(
        body=body,
        choice=call.choice,
        attempts=call.attempts,
        usage=_usage_of(call, counted, message),
        is_estimated=counted is None,
    )


def _usage_of(call: Call, counted: tuple[int, int] | None, message: object) -> Usage:
    """What a call used: as counted, else by the characters sent and received."""
    read, written = counted or (
        tokens_of_request(call.request.messages, call.request.parameters),
        tokens_of_message(message),
    )
    return Usage(call.choice.name, call.choice.tier.value, read, written)


def _cost_of(usage: Usage, choice: ModelChoice) -> Decimal:
    """USD of a usage at the model's prices."""
    return choice.cost(input_tokens=usage.input_tokens, output_tokens=usage.output_tokens)
