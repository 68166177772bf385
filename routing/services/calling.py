"""Calls the models of a route, for a whole answer or a stream, until one answers."""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal, Self, TypeVar

from django.conf import settings

from routing.clients.breaker import Breaker, Permit
from routing.clients.breaker import breaker as shared_breaker
from routing.clients.chat_calls import ChatError, ChatFailure, ChatRequest, ChunkStream, complete
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
from routing.services.router import (
    Attempt,
    Keep,
    NoModelConfiguredError,
    Outcome,
    Route,
    note_outcome,
)
from teams.errors import InvalidError, UnavailableError

logger = logging.getLogger(__name__)

_T = TypeVar("_T")
_LEFT_ALONE = "left alone after failures"


class NoModelAnsweredError(UnavailableError):
    """Every model of the route failed or is left alone for the moment; `attempts` says how."""

    def __init__(self, message: str, *, attempts: Sequence[Attempt]) -> None:
        super().__init__(message)
        self.attempts = tuple(attempts)
        if all(each.failure == _LEFT_ALONE for each in attempts):
            self.retry_after_seconds = settings.BREAKER_OPEN_SECONDS


class RequestRefusedError(InvalidError):
    """A model refused the request, perhaps as too long for any; `code` is the endpoint's."""

    def __init__(
        self, message: str, *, code: str, is_too_long: bool, attempts: Sequence[Attempt]
    ) -> None:
        super().__init__(message)
        self.code = code
        self.is_too_long = is_too_long
        self.attempts = tuple(attempts)


class StreamCutError(UnavailableError):
    """The endpoint broke off in the middle of an answer, which no other model can continue."""


@dataclass(frozen=True, slots=True)
class _Call:
    route: Route
    request: ChatRequest
    choice: ModelChoice
    attempts: tuple[Attempt, ...]
    permit: Permit

    def usage(self, counted: tuple[int, int] | None, message: object) -> Usage:
        """As counted by the endpoint, else by the characters sent and received."""
        read, written = counted or (
            tokens_of_request(self.request.messages, self.request.parameters),
            tokens_of_message(message),
        )
        return Usage(self.choice.name, self.choice.tier.value, read, written)

    def cost(self, usage: Usage) -> Decimal:
        return self.choice.cost(input_tokens=usage.input_tokens, output_tokens=usage.output_tokens)

    def outcome(self, outcome: Literal["answered", "cut"], cost_usd: Decimal) -> Outcome:
        ids = self.route.team_id, self.route.decision_id
        return Outcome(*ids, outcome, self.choice, self.attempts, cost_usd)


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer: the endpoint's `chat.completion` verbatim.

    `usage` is the endpoint's own count unless `is_estimated`; `cost_usd` is at the model's prices.
    """

    body: Json
    choice: ModelChoice
    attempts: tuple[Attempt, ...]
    usage: Usage
    cost_usd: Decimal
    is_estimated: bool


class AnswerStream:
    """An answer in progress: iterate once over the protocol's `chat.completion.chunk`s.

    Use it as a context manager, or `close` it: that also stops the model when the reader goes away.
    `keep` gets outcome and cost when it ends, however it ends.
    """

    def __init__(self, *, chunks: ChunkStream, call: _Call, breaker: Breaker, keep: Keep) -> None:
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
        """The chunks, with the usage's own only if requested; raises StreamCutError."""
        problem = ""
        try:
            for chunk in self._chunks:
                self._gathered.add(chunk)
                if self._shows_usage or not is_only_usage(chunk):
                    yield chunk
        except ChatError as error:
            problem = f": {error}."
        if problem or self.finish_reason is None:
            self._end("cut", self._breaker.failed)
            problem = problem or " before the end of its answer."
            raise StreamCutError(f"{self.choice.name} broke off{problem}")
        self._end("answered", self._breaker.succeeded)

    def close(self) -> None:
        """Reads no further; harmless after its end, and twice."""
        outcome: Literal["answered", "cut"] = "cut" if self.finish_reason is None else "answered"
        self._end(outcome, self._breaker.succeeded)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def message(self) -> Json:
        """The assistant's message so far: role, content, tool_calls."""
        return self._gathered.message

    @property
    def finish_reason(self) -> str | None:
        """The model's finish reason; None until it has stopped."""
        return self._gathered.finish_reason

    @property
    def usage(self) -> Usage:
        """The endpoint's count once it has come, until then an estimate."""
        return self._call.usage(self._gathered.usage, self.message)

    @property
    def is_estimated(self) -> bool:
        """True where `usage` is an estimate."""
        return self._gathered.usage is None

    @property
    def cost_usd(self) -> Decimal:
        """The cost so far."""
        return self._call.cost(self.usage)

    def _end(self, outcome: Literal["answered", "cut"], tell: Callable[[Permit], None]) -> None:
        if self._is_ended:
            return
        self._is_ended = True
        self._chunks.close()
        tell(self._call.permit)
        self._keep(self._call.outcome(outcome, self.cost_usd))


def call(
    *,
    route: Route,
    request: ChatRequest,
    breaker: Breaker | None = None,
    keep: Keep = note_outcome,
) -> Answer:
    """The answer of the first model of the route that gives one.

    A momentary failure (a lost connection, 408, 409, 425, 429, 5xx) is retried once after about
    CHAT_RETRY_SECONDS; after that, and after time-outs, refused keys, unknown models and nonsense,
    the next model is asked. A model whose circuit is open is skipped. `keep` gets the outcome and
    cost of an answer, to store them; a failure is stored here. Call it outside a transaction.

    Raises NoModelConfiguredError, NoModelAnsweredError (both 503) and RequestRefusedError (422).
    """
    circuits = breaker or shared_breaker()
    body, made = _first(route, request, circuits, complete)
    circuits.succeeded(made.permit)
    counted = counted_usage(body.get("usage"))
    message: Any = body["choices"][0]["message"]  # Any: checked to be there, of any shape
    usage = made.usage(counted, message)
    cost_usd = made.cost(usage)
    keep(made.outcome("answered", cost_usd))
    return Answer(body, made.choice, made.attempts, usage, cost_usd, is_estimated=counted is None)


def open_stream(
    *,
    route: Route,
    request: ChatRequest,
    breaker: Breaker | None = None,
    keep: Keep = note_outcome,
) -> AnswerStream:
    """Like `call`, but as a stream; models are tried until a first chunk comes."""
    circuits = breaker or shared_breaker()
    chunks, made = _first(route, request, circuits, ChunkStream)
    return AnswerStream(chunks=chunks, call=made, breaker=circuits, keep=keep)


def require_configured(route: Route) -> None:
    """Raises NoModelConfiguredError, which says how to configure a model, if none is."""
    if not route.is_configured:
        raise NoModelConfiguredError(
            "No model is configured. Enter a provider and its models in the admin, or set"
            " OPENAI_BASE_URL or OPENAI_API_KEY, and CHAT_MODEL_FAST, CHAT_MODEL_BALANCED and"
            " CHAT_MODEL_POWERFUL, on the server."
        )


def _first(
    route: Route, request: ChatRequest, circuits: Breaker, ask: Callable[..., _T]
) -> tuple[_T, _Call]:
    require_configured(route)
    attempts: list[Attempt] = []

    def failed(choice: ModelChoice, failure: str) -> None:
        attempts.append(Attempt(choice.name, choice.provider, failure))

    too_long: ChatError | None = None
    give_up_at = time.monotonic() + settings.CHAT_TRY_SECONDS
    for choice in route.choices:
        if attempts and time.monotonic() > give_up_at:
            break
        if choice.problem:
            failed(choice, choice.problem.rstrip("."))
            continue
        for is_again in (False, True):
            permit = circuits.ask(choice.circuit)
            if not permit.is_granted:
                if not is_again:
                    failed(choice, _LEFT_ALONE)
                break
            try:
                answer = ask(choice=choice, request=request)
            except ChatError as error:
                # An endpoint that explains what is wrong with a request is there.
                is_there = error.kind is not ChatFailure.ENDPOINT
                (circuits.succeeded if is_there else circuits.failed)(permit)
                logger.info("model=%s provider=%s failed: %s", choice.name, choice.provider, error)
                failed(choice, str(error))
                if error.kind is ChatFailure.REQUEST:
                    raise _refused(route, error, attempts) from None
                too_long = error if error.kind is ChatFailure.LENGTH else too_long
                if is_again or not _rested(error, give_up_at):
                    break
            except BaseException:
                circuits.given_up(permit)
                raise
            else:
                return answer, _Call(route, request, choice, tuple(attempts), permit)
    if too_long is not None:
        raise _refused(route, too_long, attempts)
    _note_failure(route, attempts)
    said = "; ".join(f"{each.model}: {each.failure}" for each in attempts)
    raise NoModelAnsweredError(f"No model answered ({said}).", attempts=attempts)


def _rested(error: ChatError, give_up_at: float) -> bool:
    """Waits a moment after a momentary failure; False if the next model is to be asked at once."""
    rest = settings.CHAT_RETRY_SECONDS * random.uniform(0.5, 1.5)  # noqa: S311 - no secret
    if not rest or not error.is_transient or time.monotonic() + rest > give_up_at:
        return False
    time.sleep(rest)
    return True


def _refused(route: Route, error: ChatError, attempts: Sequence[Attempt]) -> RequestRefusedError:
    _note_failure(route, attempts)
    words = f": {error.told}" if error.told else f" ({error})."
    return RequestRefusedError(
        f"{attempts[-1].model} refused the request{words}",
        code=error.code,
        is_too_long=error.kind is ChatFailure.LENGTH,
        attempts=attempts,
    )


def _note_failure(route: Route, attempts: Sequence[Attempt]) -> None:
    note_outcome(Outcome(route.team_id, route.decision_id, "failed", None, attempts, None))
