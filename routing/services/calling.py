"""Calling the chosen model, and the next one when it fails."""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from django.conf import settings

from routing.clients.breaker import Breaker
from routing.clients.breaker import breaker as shared_breaker
from routing.clients.chat_calls import ChatError, ChatFailure, ChatRequest, ChunkStream, complete
from routing.domain.choices import ModelChoice
from routing.services.answer_streams import (
    Answer,
    AnswerStream,
    Call,
    StreamCutError,
    whole_answer,
)
from routing.services.decisions import Attempt, Keep, Outcome, note_outcome
from routing.services.routes import NoModelConfiguredError, Route
from teams.errors import InvalidError, UnavailableError

__all__ = [
    "Answer",
    "AnswerStream",
    "Attempt",
    "ChatRequest",
    "NoModelAnsweredError",
    "NoModelConfiguredError",
    "RequestRefusedError",
    "StreamCutError",
    "call",
    "open_stream",
    "require_configured",
]

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
    """A model refused the request itself; `code` is the endpoint's, such as content_filter.

    `is_too_long`: the prompt is longer than any model of the route can take.
    """

    def __init__(
        self, message: str, *, code: str, is_too_long: bool, attempts: Sequence[Attempt]
    ) -> None:
        super().__init__(message)
        self.code = code
        self.is_too_long = is_too_long
        self.attempts = tuple(attempts)


def call(
    *,
    route: Route,
    request: ChatRequest,
    breaker: Breaker | None = None,
    keep: Keep = note_outcome,
) -> Answer:
    """The answer of the first model of the route that gives one.

    What may pass in a moment (a lost connection, 408, 409, 425, 429, 5xx) is tried once more
    after about CHAT_RETRY_SECONDS; then, and after time-outs, refused keys, unknown models and
    nonsense, the next model is asked. One whose circuit is open is left out. `keep` is given the
    outcome and cost of an answer, to be written down; a failure is written down here. Call it
    outside a transaction.

    Raises NoModelConfiguredError, NoModelAnsweredError (both 503) and RequestRefusedError (422).
    """
    circuits = breaker or shared_breaker()
    body, made = _first(route, request, circuits, complete)
    circuits.succeeded(made.permit)
    answer = whole_answer(body=body, call=made)
    keep(made.ended("answered", cost_usd=answer.cost_usd))
    return answer


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
    """Raise NoModelConfiguredError, which says how to configure a model, where none is."""
    if not route.is_configured:
        raise NoModelConfiguredError(
            "No model is configured. Enter a provider and its models in the admin, or set"
            " OPENAI_BASE_URL or OPENAI_API_KEY, and CHAT_MODEL_FAST, CHAT_MODEL_BALANCED and"
            " CHAT_MODEL_POWERFUL, on the server."
        )


def _first(
    route: Route,
    request: ChatRequest,
    circuits: Breaker,
    ask: Callable[..., _T],
) -> tuple[_T, Call]:
    """What the first model gives that answers, and the call it answers."""
    require_configured(route)
    attempts: list[Attempt] = []
    too_long: ChatError | None = None
    give_up_at = time.monotonic() + settings.CHAT_TRY_SECONDS
    for choice in route.choices:
        if attempts and time.monotonic() > give_up_at:
            break
        if choice.problem:
            attempts.append(_attempt(choice, choice.problem.rstrip(".")))
            continue
        for is_again in (False, True):
            permit = circuits.ask(choice.circuit)
            if not permit.is_granted:
                if not is_again:
                    attempts.append(_attempt(choice, _LEFT_ALONE))
                break
            try:
                answer = ask(choice=choice, request=request)
            except ChatError as error:
                # Who says what is wrong with a request is there.
                is_there = error.kind is not ChatFailure.ENDPOINT
                (circuits.succeeded if is_there else circuits.failed)(permit)
                logger.info("model=%s provider=%s failed: %s", choice.name, choice.provider, error)
                attempts.append(_attempt(choice, str(error)))
                if error.kind is ChatFailure.REQUEST:
                    raise _refused(route, error, attempts) from None
                too_long = error if error.kind is ChatFailure.LENGTH else too_long
                if is_again or not _may_pass(error, give_up_at):
                    break
                continue
            except BaseException:
                circuits.given_up(permit)
                raise
            return answer, Call(
                route.team_id, route.decision_id, request, choice, tuple(attempts), permit
            )
    if too_long is not None:
        raise _refused(route, too_long, attempts)
    _note_failure(route, attempts)
    told = "; ".join(f"{each.model}: {each.failure}" for each in attempts)
    raise NoModelAnsweredError(f"No model answered ({told}).", attempts=attempts)


def _may_pass(error: ChatError, give_up_at: float) -> bool:
    """Rest a moment after what may pass, and say so; False where the next model had better go."""
    rest = settings.CHAT_RETRY_SECONDS * random.uniform(0.5, 1.5)  # noqa: S311 - no secret
    if not rest or not error.is_transient or time.monotonic() + rest > give_up_at:
        return False
    time.sleep(rest)
    return True


def _refused(route: Route, error: ChatError, attempts: Sequence[Attempt]) -> RequestRefusedError:
    _note_failure(route, attempts)
    model = attempts[-1].model
    words = f": {error.told}" if error.told else f" ({error})."
    return RequestRefusedError(
        f"{model} refused the request{words}",
        code=error.code,
        is_too_long=error.kind is ChatFailure.LENGTH,
        attempts=attempts,
    )


def _note_failure(route: Route, attempts: Sequence[Attempt]) -> None:
    note_outcome(Outcome(route.team_id, route.decision_id, "failed", None, attempts, None))


def _attempt(choice: ModelChoice, failure: str) -> Attempt:
    return Attempt(choice.name, choice.provider, failure)
