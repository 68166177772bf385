"""Answers in a given shape, for the server's own questions: from any OpenAI-compatible endpoint."""

from __future__ import annotations

import json
import logging
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import openai
import pydantic
from openai.types.chat import ChatCompletion

from .endpoints import (
    Dialect,
    adapted,
    begin_call,
    describe,
    failure_kind,
    note_usage,
    open_client,
    settings_problem,
)
from .protocol import ChatMessage, CompletionError, FailureKind

logger = logging.getLogger(__name__)

T = TypeVar("T", bound=pydantic.BaseModel)

_ECHO_CHARS = 16_000
_REASONING = re.compile(r"^\s*<think>.*?</think>", re.DOTALL)
_FENCE = re.compile(r"^```[\w-]*\s*\n(.*?)\n?```$", re.DOTALL)


class _UnusableError(Exception):
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
        self._problem = settings_problem(
            base_url=base_url, api_key=api_key, model=model, prefix="OPENAI"
        )
        # Replaced whole, never changed: threads that learn at the same time learn the same.
        self._dialect = Dialect()
        self._client = open_client(
            base_url="" if self._problem else base_url,
            api_key=api_key,
            timeout=timeout,
            max_retries=max_retries,
        )

    def complete(
        self,
        *,
        schema: type[T],
        messages: Sequence[ChatMessage],
        max_tokens: int | None = None,
        on_usage: Callable[[int, int], None] | None = None,
        fault: Callable[[T], str] = lambda _: "",
    ) -> T:
        """The model's answer, valid by `schema`; an unusable one is asked for again once.

        Every field of `schema` is required of the model, defaults only forgive what is missing.
        `on_usage` is told the tokens read and written of each request, as the endpoint counts them.
        `fault` says to the model what makes a valid answer unusable, and "" of a usable one.
        Raises CompletionError: unavailable (network, overload), refused (the model or a content
        filter), malformed (unusable twice), misconfigured (credentials, model, request).
        """
        if self._problem:
            raise CompletionError(self._problem, kind=FailureKind.MISCONFIGURED)
        asked = messages
        for is_last in (False, True):
            try:
                return self._attempt(schema, asked, max_tokens, on_usage, fault)
            except _UnusableError as unusable:
                reason = unusable.reason
                if not is_last:
                    logger.info("model=%s asked again: %s", self.model, reason)
                    asked = _asked_again(messages, unusable)
        raise CompletionError(
            f"{self.model} gave no usable answer twice: {reason}", kind=FailureKind.MALFORMED
        )

    def _attempt(
        self,
        schema: type[T],
        messages: Sequence[ChatMessage],
        max_tokens: int | None,
        on_usage: Callable[[int, int], None] | None,
        fault: Callable[[T], str],
    ) -> T:
        started = time.monotonic()
        with begin_call(self._client, operation="chat", model=self.model) as made:
            completion = self._request(schema, messages, max_tokens)
            if isinstance(completion, ChatCompletion) and completion.usage is not None:
                note_usage(
                    made,
                    read=completion.usage.prompt_tokens,
                    written=completion.usage.completion_tokens,
                )
        # An endpoint may answer 200 with a page, or with an error object and no choices.
        if not isinstance(completion, ChatCompletion):
            raise _UnusableError(reason="no JSON in the response", advice="It was empty.")
        usage = completion.usage
        logger.info(
            "model=%s schema=%s prompt_tokens=%s completion_tokens=%s seconds=%.2f",
            self.model,
            schema.__name__,
            usage.prompt_tokens if usage else "unknown",
            usage.completion_tokens if usage else "unknown",
            time.monotonic() - started,
        )
        if on_usage is not None and usage is not None:
            on_usage(usage.prompt_tokens, usage.completion_tokens)
        answer = _read_answer(schema, completion)
        if advice := fault(answer):
            raise _UnusableError(reason=advice, advice=advice, answer=answer.model_dump_json())
        return answer

    def _request(
        self, schema: type[T], messages: Sequence[ChatMessage], max_tokens: int | None
    ) -> object:
        known = dialect = self._dialect
        asked: dict[str, object] = {"temperature": 0.0}
        if max_tokens is not None:
            asked["max_tokens"] = max_tokens
        while True:
            strict = dialect.response_format
            parameters = {**asked, "response_format": _response_format(schema, is_strict=strict)}
            try:
                completion: object = self._client.post(
                    "/chat/completions",
                    cast_to=ChatCompletion,
                    body={
                        **dialect.worded(parameters),
                        "model": self.model,
                        "messages": _as_params(messages, None if strict else schema),
                    },
                )
            except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
                other = adapted(
                    dialect=dialect, error=error, sent=parameters, optional="response_format"
                )
                if other is None:
                    raise self._failure(error) from None
                dialect = other
            except openai.OpenAIError as error:
                raise self._failure(error) from None
            except UnicodeEncodeError:
                raise CompletionError(
                    "The API key or the prompt holds characters that cannot be sent.",
                    kind=FailureKind.MISCONFIGURED,
                ) from None
            except ValueError:
                raise _UnusableError(
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
        return CompletionError(f"{self.model}: {describe(error)}", kind=failure_kind(error))


def _read_answer(schema: type[T], completion: ChatCompletion) -> T:
    """The answer, valid by `schema`.

    Raises _UnusableError for one to be asked for again and CompletionError for a refusal.
    """
    if not completion.choices:
        raise _UnusableError(reason="no choices", advice="It was empty.")
    choice = completion.choices[0]
    if choice.message is None:
        raise _UnusableError(reason="no message", advice="It was empty.")
    if choice.finish_reason == "content_filter":
        raise CompletionError("A content filter stopped the answer.", kind=FailureKind.REFUSED)
    if choice.message.refusal:
        raise CompletionError("The model refused.", kind=FailureKind.REFUSED)
    text = choice.message.content or ""
    if choice.finish_reason == "length":
        raise _UnusableError(
            reason="cut off at the length limit",
            advice="It was cut off before its end. Be briefer: fewer and shorter entries.",
        )
    try:
        return schema.model_validate_json(_json_text(text))
    except pydantic.ValidationError as error:
        problems = error.errors(include_url=False, include_input=False, include_context=False)
        told = [
            f"{'.'.join(map(str, problem['loc'])) or 'the answer'}: {problem['msg']}"
            for problem in problems[:8]
        ]
        reason = f"invalid ({', '.join(sorted({problem['type'] for problem in problems}))})"
        advice = "It does not fit the schema:\n" + "\n".join(told)
    raise _UnusableError(reason=reason, advice=advice, answer=text)


def _json_text(text: str) -> str:
    """The JSON in an answer, without the reasoning and code fence that some models put round it."""
    bare = _REASONING.sub("", text).strip()
    fenced = _FENCE.match(bare)
    return fenced.group(1) if fenced else bare


def _asked_again(messages: Sequence[ChatMessage], unusable: _UnusableError) -> list[ChatMessage]:
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


def _as_params(
    messages: Sequence[ChatMessage], schema: type[pydantic.BaseModel] | None
) -> list[dict[str, str]]:
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
    return [{"role": message.role, "content": message.content} for message in told]


def _response_format(schema: type[pydantic.BaseModel], *, is_strict: bool) -> dict[str, object]:
    """How the request asks for the schema: in full, or as any JSON object."""
    if not is_strict:
        return {"type": "json_object"}
    told = {"name": schema.__name__[:64], "strict": True, "schema": strict_schema(schema)}
    return {"type": "json_schema", "json_schema": told}
