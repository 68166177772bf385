"""Sends a chat request to one model, for a whole answer or a stream."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any

import openai

from routing.domain.chat_answers import Json, counted_usage, has_answer
from routing.domain.choices import ModelChoice
from teams.tracing import Step

from .endpoints import (
    FILTERED,
    NOT_THERE,
    TOO_LONG,
    Dialect,
    adapted,
    begin_call,
    describe,
    error_code,
    is_momentary,
    note_usage,
    open_client,
)

logger = logging.getLogger(__name__)

_OURS = frozenset({"model", "messages", "stream"})
_LIMITS = ("max_tokens", "max_completion_tokens")
_AT_FAULT = frozenset({400, 413, 422})
_MOST_WORDS = 500
# Codes of a 429 that waiting does not cure.
_LASTING = frozenset({"insufficient_quota", "billing_hard_limit_reached"})
# Endpoints that ask for a longer wait are not retried, in seconds.
_MOST_PATIENCE = 1.0


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """What is sent: `messages`, and of the request's body everything else but `model`, `stream`.

    `parameters` goes through untouched (tools, tool_choice, temperature, response_format, stop, …),
    but for what the model chosen cannot take: a limit above its own, a name it does not know.
    """

    messages: Sequence[Mapping[str, Any]]
    parameters: Mapping[str, Any]


class ChatFailure(StrEnum):
    """What is at fault: the endpoint, the length of the request, or the request itself."""

    ENDPOINT = "endpoint"
    LENGTH = "length"
    REQUEST = "request"


class ChatError(Exception):
    """No answer came; the message holds no prompt, answer or key.

    `told` is what the endpoint said about a request at fault, for its sender alone.
    `is_transient`: the endpoint may answer the same in a moment.
    """

    def __init__(
        self,
        message: str,
        *,
        kind: ChatFailure,
        code: str = "",
        told: str = "",
        is_transient: bool = False,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.code = code
        self.told = told
        self.is_transient = is_transient


def complete(*, choice: ModelChoice, request: ChatRequest) -> Json:
    """The `chat.completion` as the endpoint gave it. Raises ChatError."""
    with _begin(choice) as made:
        answer = _ask(choice, request, stream=False)
        body = _parsed(answer) if isinstance(answer, str) else answer
        # An endpoint may answer 200 with a page, or with an error object and no choices.
        if not isinstance(body, dict) or not has_answer(body):
            raise ChatError("nonsense", kind=ChatFailure.ENDPOINT)
        _note_usage(made, body)
    return body


class ChunkStream:
    """The `chat.completion.chunk`s of an answer, the first of which has come; iterate once.

    Raises ChatError where the endpoint breaks off.
    """

    def __init__(self, *, choice: ModelChoice, request: ChatRequest) -> None:
        self._made = _begin(choice)
        try:
            answer = _ask(choice, request, stream=True)
            if not isinstance(answer, openai.Stream):
                raise ChatError("nonsense", kind=ChatFailure.ENDPOINT)
        except BaseException as error:
            self._made.end(error)
            raise
        self._stream: openai.Stream[object] = answer
        self._rest = self._chunks(choice)
        try:
            first = next(self._rest, None)
        except ChatError:
            self.close()
            raise
        if first is None:
            self.close()
            raise ChatError("nonsense", kind=ChatFailure.ENDPOINT)
        self._first = first

    def __iter__(self) -> Iterator[Json]:
        """The chunks."""
        yield self._first
        yield from self._rest

    def close(self) -> None:
        """Stop reading, which also stops the model; harmless twice."""
        self._stream.close()
        self._made.end()

    def _chunks(self, choice: ModelChoice) -> Iterator[Json]:
        try:
            for chunk in self._stream:
                if isinstance(chunk, dict):
                    _note_usage(self._made, chunk)
                    yield chunk
        except openai.OpenAIError as error:
            self._made.end(error)
            raise _failure(error, choice) from None
        except ValueError as error:
            self._made.end(error)
            raise ChatError("nonsense", kind=ChatFailure.ENDPOINT) from None
        self._made.end()


def _begin(choice: ModelChoice) -> Step:
    client, _ = _endpoint(choice.base_url, choice.api_key, choice.timeout_seconds)
    return begin_call(client, operation="chat", model=choice.name)


def _note_usage(made: Step, answer: Json) -> None:
    if (counted := counted_usage(answer.get("usage"))) is not None:
        note_usage(made, read=counted[0], written=counted[1])


def _ask(choice: ModelChoice, request: ChatRequest, *, stream: bool) -> object:
    client, dialects = _endpoint(choice.base_url, choice.api_key, choice.timeout_seconds)
    known = dialect = dialects.get(choice.name, Dialect())
    while True:
        parameters = _worded(request.parameters, choice, dialect, stream=stream)
        try:
            # Not by `chat.completions.create`, which takes request and answer apart by its own
            # types, and costs more than the rest of the call where a conversation is long.
            answer: object = client.post(
                "/chat/completions",
                cast_to=object,
                body={
                    **parameters,
                    "model": choice.name,
                    "messages": list(request.messages),
                    "stream": stream,
                },
                stream=stream,
                stream_cls=openai.Stream[object],
            )
        except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
            other = adapted(
                dialect=dialect, error=error, sent=parameters, optional="stream_options"
            )
            if other is None:
                raise _failure(error, choice) from None
            dialect = other
        except openai.OpenAIError as error:
            raise _failure(error, choice) from None
        except UnicodeEncodeError:
            raise ChatError("characters that cannot be sent", kind=ChatFailure.ENDPOINT) from None
        except ValueError:
            raise ChatError("nonsense", kind=ChatFailure.ENDPOINT) from None
        else:
            if dialect != known:
                # Replaced whole: threads that learn at the same time learn the same.
                dialects[choice.name] = dialect
                logger.warning("model=%s needs another dialect: %s", choice.name, dialect)
            return answer


def _parsed(text: str) -> object:
    """The JSON of an answer that does not say that it is JSON."""
    try:
        return json.loads(text)
    except ValueError:
        return None


def _worded(
    parameters: Mapping[str, Any], choice: ModelChoice, dialect: Dialect, *, stream: bool
) -> Json:
    """The parameters for this model: what it cannot take is left out, renamed or lowered."""
    sent = {name: value for name, value in parameters.items() if name not in _OURS}
    for name in _LIMITS:
        limit = sent.get(name)
        if isinstance(limit, int) and not isinstance(limit, bool):
            sent[name] = min(limit, choice.max_output_tokens)
    asked = sent.pop("stream_options", None)
    if stream and dialect.stream_options:
        wishes = asked if isinstance(asked, Mapping) else {}
        sent["stream_options"] = {**wishes, "include_usage": True}
    return dialect.worded(sent)


@lru_cache(maxsize=128)
def _endpoint(
    base_url: str, api_key: str, timeout: float
) -> tuple[openai.OpenAI, dict[str, Dialect]]:
    """The client of an endpoint, and the dialects of its models."""
    # A team enters the address, so its answers must not redirect the server elsewhere.
    client = open_client(
        base_url=base_url, api_key=api_key, timeout=timeout, max_retries=0, follow_redirects=False
    )
    return client, {}


def _failure(error: openai.OpenAIError, choice: ModelChoice) -> ChatError:
    if not isinstance(error, openai.APIStatusError):
        is_unconnected = isinstance(error, openai.APIConnectionError)
        is_transient = is_unconnected and not isinstance(error, openai.APITimeoutError)
        return ChatError(describe(error), kind=ChatFailure.ENDPOINT, is_transient=is_transient)
    code = error_code(error)
    kind = ChatFailure.ENDPOINT
    if code in FILTERED:
        kind = ChatFailure.REQUEST
    elif code in TOO_LONG or error.status_code == 413:
        kind = ChatFailure.LENGTH
    elif error.status_code in _AT_FAULT and code not in NOT_THERE:
        kind = ChatFailure.REQUEST
    return ChatError(
        describe(error),
        kind=kind,
        code=code,
        told=_told(error, choice) if kind is not ChatFailure.ENDPOINT else "",
        is_transient=kind is ChatFailure.ENDPOINT and _is_transient(error, code),
    )


def _is_transient(error: openai.APIStatusError, code: str) -> bool:
    if code in _LASTING or not is_momentary(error):
        return False
    try:
        return float(error.response.headers.get("Retry-After", 0)) <= _MOST_PATIENCE
    except ValueError:
        # A date: whoever names one means more than a moment.
        return False


def _told(error: openai.APIStatusError, choice: ModelChoice) -> str:
    """The endpoint's own words on one line, without the key."""
    said = error.body.get("message") if isinstance(error.body, Mapping) else None
    words = " ".join(said.split()) if isinstance(said, str) else ""
    if choice.api_key:
        words = words.replace(choice.api_key, "[key]")
    return words[:_MOST_WORDS]
