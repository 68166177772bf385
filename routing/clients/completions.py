"""Answers of a language model in a given shape, from any OpenAI-compatible endpoint."""

from __future__ import annotations

import json
import logging
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Literal, TypeVar
from urllib.parse import urlsplit

import openai
import pydantic
from openai.types.chat import ChatCompletion, ChatCompletionMessageParam
from openai.types.shared_params import ResponseFormatJSONObject, ResponseFormatJSONSchema

logger = logging.getLogger(__name__)

T = TypeVar("T", bound=pydantic.BaseModel)

_CONNECT_SECONDS = 5.0
_ECHO_CHARS = 16_000
_REASONING = re.compile(r"^\s*<think>.*?</think>", re.DOTALL)
_FENCE = re.compile(r"^```[\w-]*\s*\n(.*?)\n?```$", re.DOTALL)
_TOKEN = re.compile(r"[\w.\[\]-]{1,64}")
_FILTERED = frozenset({"content_filter", "content_policy_violation"})
# Codes of a 400 that another response format would not cure.
_NOT_ABOUT_FORMAT = frozenset(
    {"context_length_exceeded", "invalid_api_key", "model_not_found", "string_above_max_length"}
)


class FailureKind(StrEnum):
    """Why there is no answer, as far as a caller can act on it."""

    UNAVAILABLE = "unavailable"
    REFUSED = "refused"
    MALFORMED = "malformed"
    MISCONFIGURED = "misconfigured"


class CompletionError(Exception):
    """No usable answer came; the message never holds prompt, answer or key."""

    def __init__(self, message: str, *, kind: FailureKind) -> None:
        super().__init__(message)
        self.kind = kind


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message of a prompt."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class _Dialect:
    """What an endpoint accepts, as far as its refusals have taught."""

    json_schema: bool = True
    temperature: bool = True
    max_completion_tokens: bool = False


class _UnusableAnswerError(Exception):
    """An answer came and cannot be used; `advice` is for the model, `reason` for the log."""

    def __init__(self, *, reason: str, advice: str, answer: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.advice = advice
        self.answer = answer


class StructuredCompletions:
    """Asks one model of one endpoint for answers that fit a pydantic schema; thread-safe.

    `timeout` is seconds without a byte from the endpoint, for each of the 1 + `max_retries`
    requests; 429, 5xx, timeouts and lost connections are retried with backoff and jitter, or
    after the time in Retry-After. An empty `base_url` means the OpenAI API; an empty `api_key`
    suits local endpoints that ask for none. Wrong settings are reported by `complete`.
    """

    def __init__(
        self,
        *,
        base_url: str,
        api_key: str,
        model: str,
        timeout: float = 60.0,
        max_retries: int = 2,
    ) -> None:
        self.model = model
        self._problem = _problem_with(base_url=base_url, api_key=api_key, model=model)
        # Replaced whole, never changed: threads that learn at the same time learn the same.
        self._dialect = _Dialect()
        self._client = openai.OpenAI(
            base_url="http://misconfigured.invalid" if self._problem else base_url or None,
            api_key=api_key.strip() or "none",
            timeout=openai.Timeout(timeout, connect=min(timeout, _CONNECT_SECONDS)),
            max_retries=max_retries,
        )

    def complete(
        self,
        *,
        schema: type[T],
        messages: Sequence[ChatMessage],
        max_tokens: int | None = None,
        temperature: float = 0.0,
    ) -> T:
        """The model's answer, valid by `schema`; an unusable one is asked for again once.

        Every field of `schema` is required of the model, defaults only forgive what is missing.
        Raises CompletionError: unavailable (network, overload), refused (the model or a content
        filter), malformed (unusable twice), misconfigured (credentials, model, request).
        """
        if self._problem:
            raise CompletionError(self._problem, kind=FailureKind.MISCONFIGURED)
        try:
            return self._attempt(schema, messages, max_tokens, temperature)
        except _UnusableAnswerError as unusable:
            logger.info("model=%s asked again: %s", self.model, unusable.reason)
            again = _asked_again(messages, unusable)
        try:
            return self._attempt(schema, again, max_tokens, temperature)
        except _UnusableAnswerError as unusable:
            reason = unusable.reason
        raise CompletionError(
            f"{self.model} gave no usable answer twice: {reason}", kind=FailureKind.MALFORMED
        )

    def _attempt(
        self,
        schema: type[T],
        messages: Sequence[ChatMessage],
        max_tokens: int | None,
        temperature: float,
    ) -> T:
        started = time.monotonic()
        completion = self._request(schema, messages, max_tokens, temperature)
        # An endpoint may answer 200 with a page, or with an error object and no choices.
        if not isinstance(completion, ChatCompletion):
            raise _UnusableAnswerError(reason="no JSON in the response", advice="It was empty.")
        usage = completion.usage
        logger.info(
            "model=%s schema=%s prompt_tokens=%s completion_tokens=%s seconds=%.2f",
            self.model,
            schema.__name__,
            usage.prompt_tokens if usage else "unknown",
            usage.completion_tokens if usage else "unknown",
            time.monotonic() - started,
        )
        return _read(schema, completion)

    def _request(
        self,
        schema: type[T],
        messages: Sequence[ChatMessage],
        max_tokens: int | None,
        temperature: float,
    ) -> object:
        known = dialect = self._dialect
        while True:
            limit = openai.omit if max_tokens is None else max_tokens
            try:
                completion = self._client.chat.completions.create(
                    model=self.model,
                    messages=_as_params(messages, schema=None if dialect.json_schema else schema),
                    response_format=_response_format(schema, dialect=dialect),
                    temperature=temperature if dialect.temperature else openai.omit,
                    max_tokens=openai.omit if dialect.max_completion_tokens else limit,
                    max_completion_tokens=limit if dialect.max_completion_tokens else openai.omit,
                )
            except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
                adapted = _adapted(dialect, error)
                if adapted is None:
                    raise self._failure(error) from None
                dialect = adapted
            except openai.OpenAIError as error:
                raise self._failure(error) from None
            except UnicodeEncodeError:
                raise CompletionError(
                    "The API key or the prompt holds characters that cannot be sent.",
                    kind=FailureKind.MISCONFIGURED,
                ) from None
            except ValueError:
                raise _UnusableAnswerError(
                    reason="the response is not JSON", advice="It was not JSON."
                ) from None
            else:
                if dialect != known:
                    # Remembered only now that it worked, so that a 400 for another reason
                    # does not lower the quality of all later answers.
                    self._dialect = dialect
                    logger.warning("model=%s needs another dialect: %s", self.model, dialect)
                return completion

    def _failure(self, error: openai.OpenAIError) -> CompletionError:
        """The error as ours, without the server's own words: they may repeat prompt or key."""
        if isinstance(error, openai.APITimeoutError):
            return CompletionError(f"{self.model}: timeout", kind=FailureKind.UNAVAILABLE)
        if isinstance(error, openai.APIConnectionError):
            return CompletionError(f"{self.model}: no connection", kind=FailureKind.UNAVAILABLE)
        if not isinstance(error, openai.APIStatusError):
            return CompletionError(
                f"{self.model}: {type(error).__name__}", kind=FailureKind.UNAVAILABLE
            )
        kind = FailureKind.MISCONFIGURED
        if _code(error) in _FILTERED:
            kind = FailureKind.REFUSED
        elif error.status_code in {408, 409, 425, 429} or error.status_code >= 500:
            kind = FailureKind.UNAVAILABLE
        return CompletionError(
            f"{self.model}: HTTP {error.status_code} {_code(error)}".rstrip(), kind=kind
        )


def strict_schema(schema: type[pydantic.BaseModel]) -> dict[str, object]:
    """The JSON schema as strict mode wants it: closed objects, all required, no defaults.

    Free-form dictionaries (`dict[str, ...]` fields) have no strict form.
    """
    # The one public door of the client to its strict-schema builder; it keeps defaults.
    parameters = openai.pydantic_function_tool(schema)["function"]["parameters"]
    return dict(_without_defaults(parameters))


def _without_defaults(node: dict[str, Any]) -> dict[str, Any]:  # Any: a JSON schema
    kept: dict[str, Any] = {}
    for key, value in node.items():
        if key in {"properties", "$defs"}:
            kept[key] = {name: _without_defaults(part) for name, part in value.items()}
        elif key == "items":
            kept[key] = _without_defaults(value)
        elif key in {"anyOf", "allOf"}:
            kept[key] = [_without_defaults(part) for part in value]
        elif key != "default":
            kept[key] = value
    return kept


def _problem_with(*, base_url: str, api_key: str, model: str) -> str:
    if not model:
        return "No model is named."
    if not base_url and not api_key.strip():
        return "Set OPENAI_API_KEY, or OPENAI_BASE_URL for an endpoint of your own."
    if base_url:
        try:
            parts = urlsplit(base_url)
            usable = parts.scheme in {"http", "https"} and bool(parts.hostname)
            usable = usable and parts.port != 0
        except ValueError:
            usable = False
        if not usable:
            return "OPENAI_BASE_URL must look like https://host/v1."
    return ""


def _as_params(
    messages: Sequence[ChatMessage], *, schema: type[pydantic.BaseModel] | None
) -> list[ChatCompletionMessageParam]:
    """The messages as the client takes them; a schema that must be told joins the first one."""
    told = list(messages)
    if schema is not None:
        text = (
            "Answer with one JSON object and nothing else, no prose and no code fence. It must be "
            f"valid by this JSON schema:\n{json.dumps(strict_schema(schema))}"
        )
        # Many chat templates take a system message in the first place only.
        if told and told[0].role == "system":
            told[0] = replace(told[0], content=f"{told[0].content}\n\n{text}")
        else:
            told.insert(0, ChatMessage(role="system", content=text))
    params: list[ChatCompletionMessageParam] = []
    for message in told:
        if message.role == "system":
            params.append({"role": "system", "content": message.content})
        elif message.role == "assistant":
            params.append({"role": "assistant", "content": message.content})
        else:
            params.append({"role": "user", "content": message.content})
    return params


def _response_format(
    schema: type[pydantic.BaseModel], *, dialect: _Dialect
) -> ResponseFormatJSONSchema | ResponseFormatJSONObject:
    if not dialect.json_schema:
        return {"type": "json_object"}
    return {
        "type": "json_schema",
        "json_schema": {
            "name": schema.__name__[:64],
            "strict": True,
            "schema": strict_schema(schema),
        },
    }


def _code(error: openai.APIStatusError) -> str:
    """The server's error code where it is a plain token, else nothing."""
    code = str(error.code or "")
    return code if _TOKEN.fullmatch(code) else ""


def _adapted(dialect: _Dialect, error: openai.APIStatusError) -> _Dialect | None:
    """The dialect to try after a 400 or 422; None when no other one would help."""
    param = str(error.param or "")
    if param == "temperature" and dialect.temperature:
        return replace(dialect, temperature=False)
    if param == "max_tokens" and not dialect.max_completion_tokens:
        return replace(dialect, max_completion_tokens=True)
    # Ollama, vLLM and their kin name no parameter, so any unexplained 400 may be about the format.
    about_format = param.startswith("response_format") or (
        not param and _code(error) not in _NOT_ABOUT_FORMAT | _FILTERED
    )
    if dialect.json_schema and about_format:
        return replace(dialect, json_schema=False)
    return None


def _read(schema: type[T], completion: ChatCompletion) -> T:
    if not completion.choices:
        raise _UnusableAnswerError(reason="no choices", advice="It was empty.")
    choice = completion.choices[0]
    if choice.message is None:
        raise _UnusableAnswerError(reason="no message", advice="It was empty.")
    if choice.finish_reason == "content_filter":
        raise CompletionError("A content filter stopped the answer.", kind=FailureKind.REFUSED)
    if choice.message.refusal:
        raise CompletionError("The model refused.", kind=FailureKind.REFUSED)
    text = choice.message.content or ""
    if choice.finish_reason == "length":
        raise _UnusableAnswerError(
            reason="cut off at the length limit",
            advice="It was cut off before its end. Be briefer: fewer and shorter entries.",
        )
    try:
        return schema.model_validate_json(_json_text(text))
    except pydantic.ValidationError as error:
        problems = error.errors(include_url=False, include_input=False, include_context=False)
        told = [f"{_path(problem['loc'])}: {problem['msg']}" for problem in problems[:8]]
        reason = f"invalid ({', '.join(sorted({problem['type'] for problem in problems}))})"
        advice = "It does not fit the schema:\n" + "\n".join(told)
    raise _UnusableAnswerError(reason=reason, advice=advice, answer=text)


def _path(location: tuple[int | str, ...]) -> str:
    return ".".join(str(part) for part in location) or "the answer"


def _json_text(text: str) -> str:
    """The JSON in an answer, without the reasoning and code fence that some models put round it."""
    bare = _REASONING.sub("", text).strip()
    fenced = _FENCE.match(bare)
    return fenced.group(1) if fenced else bare


def _asked_again(
    messages: Sequence[ChatMessage], unusable: _UnusableAnswerError
) -> list[ChatMessage]:
    """The prompt with what was wrong at its end, after the model's answer where there is one."""
    advice = (
        f"Your last answer could not be used. {unusable.advice}\n"
        "Answer the request again in full, with the corrected JSON alone."
    )
    asked = list(messages)
    if unusable.answer.strip():
        asked.append(ChatMessage(role="assistant", content=unusable.answer[:_ECHO_CHARS]))
    elif asked and asked[-1].role == "user":
        # Some chat templates refuse two user messages in a row.
        advice = f"{asked.pop().content}\n\n{advice}"
    return [*asked, ChatMessage(role="user", content=advice)]
