"""An agent's chat, passed on to one model of one endpoint, whole or as a stream."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any

import openai

from routing.domain.chat_answers import Json, has_answer
from routing.domain.choices import ModelChoice

from .chat_dialect import ChatDialect, adapted, worded
from .structured_dialect import FILTERED, error_code

logger = logging.getLogger(__name__)

_CONNECT_SECONDS = 5.0
_TOO_LONG = frozenset({"context_length_exceeded", "string_above_max_length"})
_NOT_THERE = frozenset({"invalid_api_key", "model_not_found"})
_AT_FAULT = frozenset({400, 413, 422})
_MOST_WORDS = 500
_MOMENTARY = frozenset({408, 409, 425, 429})
# What answers 429 and does not pass by itself.
_LASTING = frozenset({"insufficient_quota", "billing_hard_limit_reached"})
# Who wants to be left alone for more seconds is not asked again.
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
    """What a failure says of whom: of the endpoint, of the request's length, of the request."""

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


@dataclass(slots=True)
class _Endpoint:
    """The connections to an endpoint, and what its refusals taught about its models."""

    client: openai.OpenAI
    # Values are replaced whole: threads that learn at the same time learn the same.
    dialects: dict[str, ChatDialect]


def complete(*, choice: ModelChoice, request: ChatRequest) -> Json:
    """The `chat.completion` as the endpoint gave it. Raises ChatError."""
    answer = _ask(choice, request, stream=False)
    body = _parsed(answer) if isinstance(answer, str) else answer
    # An endpoint may answer 200 with a page, or with an error object and no choices.
    if not isinstance(body, dict) or not has_answer(body):
        raise ChatError("nonsense", kind=ChatFailure.ENDPOINT)
    return body


class ChunkStream:
    """The `chat.completion.chunk`s of an answer, the first of which has come; iterate once.

    Raises ChatError where the endpoint breaks off.
    """

    def __init__(self, *, choice: ModelChoice, request: ChatRequest) -> None:
        answer = _ask(choice, request, stream=True)
        if not isinstance(answer, openai.Stream):
            raise ChatError("nonsense", kind=ChatFailure.ENDPOINT)
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

    def _chunks(self, choice: ModelChoice) -> Iterator[Json]:
        try:
            for chunk in self._stream:
                if isinstance(chunk, dict):
                    yield chunk
        except openai.OpenAIError as error:
            raise _failure(error, choice) from None
        except ValueError:
            raise ChatError("nonsense", kind=ChatFailure.ENDPOINT) from None


def _ask(choice: ModelChoice, request: ChatRequest, *, stream: bool) -> object:
    endpoint = _endpoint(choice.base_url, choice.api_key, choice.timeout_seconds)
    known = dialect = endpoint.dialects.get(choice.name, ChatDialect())
    while True:
        parameters = worded(
            parameters=request.parameters, choice=choice, dialect=dialect, stream=stream
        )
        try:
            # Not by `chat.completions.create`, which takes request and answer apart by its own
            # types, and costs more than the rest of the call where a conversation is long.
            answer: object = endpoint.client.post(
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
            other = adapted(dialect=dialect, error=error, sent=parameters)
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
                endpoint.dialects[choice.name] = dialect
                logger.warning("model=%s needs another dialect: %s", choice.name, dialect)
            return answer


def _parsed(text: str) -> object:
    """The JSON of an answer that does not say that it is JSON."""
    try:
        return json.loads(text)
    except ValueError:
        return None


@lru_cache(maxsize=128)
def _endpoint(base_url: str, api_key: str, timeout: float) -> _Endpoint:
    seconds = openai.Timeout(timeout, connect=min(timeout, _CONNECT_SECONDS))
    client = openai.OpenAI(
        base_url=base_url,
        api_key=api_key or "none",
        timeout=seconds,
        max_retries=0,
        # Whoever may answer at an address that a team entered sends the server nowhere else.
        http_client=openai.DefaultHttpxClient(timeout=seconds, follow_redirects=False),
    )
    return _Endpoint(client, {})


def _failure(error: openai.OpenAIError, choice: ModelChoice) -> ChatError:
    if isinstance(error, openai.APITimeoutError):
        return ChatError("timeout", kind=ChatFailure.ENDPOINT)
    if isinstance(error, openai.APIConnectionError):
        return ChatError("no connection", kind=ChatFailure.ENDPOINT, is_transient=True)
    if not isinstance(error, openai.APIStatusError):
        return ChatError("an error in place of an answer", kind=ChatFailure.ENDPOINT)
    code = error_code(error=error)
    kind = ChatFailure.ENDPOINT
    if code in FILTERED:
        kind = ChatFailure.REQUEST
    elif code in _TOO_LONG or error.status_code == 413:
        kind = ChatFailure.LENGTH
    elif error.status_code in _AT_FAULT and code not in _NOT_THERE:
        kind = ChatFailure.REQUEST
    return ChatError(
        f"HTTP {error.status_code} {code}".rstrip(),
        kind=kind,
        code=code,
        told=_told(error, choice) if kind is not ChatFailure.ENDPOINT else "",
        is_transient=kind is ChatFailure.ENDPOINT and _is_transient(error, code),
    )


def _is_transient(error: openai.APIStatusError, code: str) -> bool:
    if code in _LASTING or not (error.status_code in _MOMENTARY or error.status_code >= 500):
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
