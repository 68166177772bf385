"""Sends a chat request to one model, for a whole answer or a stream."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any

import httpx2
import openai

from routing.domain.chat_answers import (
    LIMITS,
    Json,
    counted_usage,
    given_limits,
    has_answer,
    tokens_of_request,
)
from routing.domain.choices import ModelChoice
from routing.domain.endpoints import Reach
from teams.tracing import Step

from .endpoints import (
    FILTERED,
    NOT_THERE,
    TOO_LONG,
    ChatEndpoint,
    Dialect,
    describe,
    error_code,
    is_momentary,
    is_unreachable,
    note_usage,
    open_client,
)

_OURS = frozenset({"model", "messages", "stream"})
_MOST_WORDS = 500
# Codes of a 429 that waiting does not cure.
_LASTING = frozenset({"insufficient_quota", "billing_hard_limit_reached"})
# Endpoints that ask for a longer wait are not retried, in seconds.
_MOST_PATIENCE = 1.0


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """The `messages` of a request and the rest of its body but `model` and `stream`.

    `parameters` (tools, tool_choice, temperature, response_format, stop, …) are passed through,
    except for what the model cannot take: a limit above its own, a name it does not know. Without a
    limit a model that costs something gets its own, as far as the context window has room: no more
    is reserved for an answer.
    """

    messages: Sequence[Mapping[str, Any]]
    parameters: Mapping[str, Any]


class ChatFailure(StrEnum):
    """The cause of a failure: the endpoint, the length of the request, or the request itself."""

    ENDPOINT = "endpoint"
    LENGTH = "length"
    REQUEST = "request"


class ChatError(Exception):
    """No answer came; the message holds no prompt, answer or key.

    `told` is the endpoint's message about a request at fault, for its sender alone. If
    `is_transient`, the endpoint may answer the same request in a moment.
    """

    def __init__(
        self,
        message: str = "nonsense",
        *,
        kind: ChatFailure = ChatFailure.ENDPOINT,
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
    """The `chat.completion` verbatim. Raises ChatError."""
    with _endpoint(choice).begin() as made:
        answer = _ask(choice, request, stream=False)
        body = _parsed(answer) if isinstance(answer, str) else answer
        # An endpoint may answer 200 with a page, or with an error object and no choices.
        if not isinstance(body, dict) or not has_answer(body):
            raise ChatError
        _note_usage(made, body)
    return body


class ChunkStream:
    """The chunks of an answer that has begun; iterate once. Raises ChatError if it breaks off."""

    def __init__(self, *, choice: ModelChoice, request: ChatRequest) -> None:
        self._chunks = _chunks(choice, request)
        first = next(self._chunks, None)
        if first is None:
            raise ChatError
        self._first = first

    def __iter__(self) -> Iterator[Json]:
        """The chunks."""
        yield self._first
        yield from self._chunks

    def close(self) -> None:
        """Stops reading, which also stops the model; harmless twice."""
        self._chunks.close()


def _chunks(choice: ModelChoice, request: ChatRequest) -> Generator[Json]:
    with _endpoint(choice).begin() as made:
        answer = _ask(choice, request, stream=True)
        if not isinstance(answer, openai.Stream):
            raise ChatError
        try:
            for chunk in answer:
                if isinstance(chunk, dict):
                    _note_usage(made, chunk)
                    yield chunk
        except GeneratorExit:
            # The reader stops; the call itself did not fail.
            made.end()
            raise
        except openai.OpenAIError as error:
            raise _failure(error, choice) from None
        except ValueError:
            raise ChatError from None
        finally:
            answer.close()


def _note_usage(made: Step, answer: Json) -> None:
    if (counted := counted_usage(answer.get("usage"))) is not None:
        note_usage(made, read=counted[0], written=counted[1])


def _ask(choice: ModelChoice, request: ChatRequest, *, stream: bool) -> object:
    def body(dialect: Dialect) -> Json:
        sent = _accepted(request, choice, dialect, stream=stream)
        return {**sent, "messages": list(request.messages), "stream": stream}

    try:
        return _endpoint(choice).post(body, stream=stream)
    except openai.OpenAIError as error:
        raise _failure(error, choice) from None
    except UnicodeEncodeError:
        raise ChatError("characters that cannot be sent") from None
    except ValueError:
        raise ChatError from None


def _parsed(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _accepted(request: ChatRequest, choice: ModelChoice, dialect: Dialect, *, stream: bool) -> Json:
    sent = {
        name: value
        for name, value in request.parameters.items()
        if name not in _OURS and (name not in LIMITS or value is not None)
    }
    limits = given_limits(sent)
    sent |= dict.fromkeys(limits, min([*limits.values(), choice.max_output_tokens]))
    if choice.output_price and not sent.keys() & set(LIMITS):
        # Some endpoints refuse a limit that the window has no room for.
        room = choice.context_window - tokens_of_request(request.messages, request.parameters)
        if (own := min(choice.max_output_tokens, room)) > 0:
            sent["max_tokens"] = own
    asked = sent.pop("stream_options", None)
    if stream and dialect.stream_options:
        wishes = asked if isinstance(asked, Mapping) else {}
        sent["stream_options"] = {**wishes, "include_usage": True}
    return sent


def _endpoint(choice: ModelChoice) -> ChatEndpoint:
    try:
        client, known = _opened(
            choice.base_url, choice.api_key, choice.timeout_seconds, choice.reach
        )
    except httpx2.InvalidURL:
        raise ChatError("an address that cannot be read") from None
    made = ChatEndpoint(client=client, model=choice.name, optional="stream_options")
    return known.setdefault(choice.name, made)


@lru_cache(maxsize=128)
def _opened(
    base_url: str, api_key: str, timeout: float, reach: Reach
) -> tuple[openai.OpenAI, dict[str, ChatEndpoint]]:
    # A team enters the address, so its answers must not redirect the server elsewhere.
    client = open_client(
        base_url=base_url,
        api_key=api_key,
        timeout=timeout,
        max_retries=0,
        follow_redirects=False,
        reach=reach,
    )
    return client, {}


def _failure(error: openai.OpenAIError, choice: ModelChoice) -> ChatError:
    if not isinstance(error, openai.APIStatusError):
        is_unconnected = isinstance(error, openai.APIConnectionError)
        is_final = isinstance(error, openai.APITimeoutError) or is_unreachable(error)
        is_transient = is_unconnected and not is_final
        return ChatError(describe(error), is_transient=is_transient)
    code = error_code(error)
    if code in FILTERED:
        kind = ChatFailure.REQUEST
    elif code in TOO_LONG or error.status_code == 413:
        kind = ChatFailure.LENGTH
    elif error.status_code in {400, 422} and code not in NOT_THERE:
        kind = ChatFailure.REQUEST
    else:
        return ChatError(describe(error), code=code, is_transient=_is_transient(error, code))
    return ChatError(describe(error), kind=kind, code=code, told=_told(error, choice))


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
