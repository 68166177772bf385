"""Answers that fit a pydantic schema, from any OpenAI-compatible endpoint."""

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

from routing.domain.chat_answers import Json

from .endpoints import (
    ChatEndpoint,
    Dialect,
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
    """An unusable answer; `advice` is for the model, `reason` for the log."""

    def __init__(self, reason: str, advice: str, answer: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.advice = advice
        self.answer = answer


class StructuredCompletions:
    """Asks one model of one endpoint for answers that fit a pydantic schema; thread-safe.

    `timeout` is seconds without a byte from the endpoint, for each of the 1 + `max_retries`
    requests; 429, 5xx, timeouts and lost connections are retried with backoff and jitter, or
    after the time in Retry-After. An empty `base_url` means the OpenAI API; an empty `api_key`
    suits local endpoints that need none. Wrong settings are reported by `complete`.
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
        client = open_client(
            base_url="" if self._problem else base_url,
            api_key=api_key,
            timeout=timeout,
            max_retries=max_retries,
        )
        self._endpoint = ChatEndpoint(client=client, model=model, optional="response_format")

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

        The model must give every field of `schema`; defaults only forgive missing ones. `on_usage`
        gets the tokens read and written of each request, as the endpoint counts them. `fault` says
        to the model what makes a valid answer unusable, and "" of a usable one.
        Raises CompletionError: unavailable (network, overload), refused (the model or a content
        filter), malformed (unusable twice), misconfigured (credentials, model, request).
        """
        if self._problem:
            raise CompletionError(self._problem, kind=FailureKind.MISCONFIGURED)
        try:
            return self._attempt(schema, messages, max_tokens, on_usage, fault)
        except _UnusableError as unusable:
            logger.info("model=%s asked again: %s", self.model, unusable.reason)
            again = _asked_again(messages, unusable)
        try:
            return self._attempt(schema, again, max_tokens, on_usage, fault)
        except _UnusableError as unusable:
            raise CompletionError(
                f"{self.model} gave no usable answer twice: {unusable.reason}",
                kind=FailureKind.MALFORMED,
            ) from None

    def _attempt(
        self,
        schema: type[T],
        messages: Sequence[ChatMessage],
        max_tokens: int | None,
        on_usage: Callable[[int, int], None] | None,
        fault: Callable[[T], str],
    ) -> T:
        started = time.monotonic()
        with self._endpoint.begin() as made:
            completion = self._request(schema, messages, max_tokens)
            # An endpoint may answer 200 with a page, or with an error object and no choices.
            if not isinstance(completion, ChatCompletion):
                raise _UnusableError("no JSON in the response", "It was empty.")
            read = written = None
            if usage := completion.usage:
                read, written = usage.prompt_tokens, usage.completion_tokens
                note_usage(made, read=read, written=written)
                if on_usage is not None:
                    on_usage(read, written)
        logger.info(
            "model=%s schema=%s prompt_tokens=%s completion_tokens=%s seconds=%.2f",
            *(self.model, schema.__name__, read, written, time.monotonic() - started),
        )
        answer = _read_answer(schema, completion)
        if advice := fault(answer):
            raise _UnusableError(advice, advice, answer.model_dump_json())
        return answer

    def _request(
        self, schema: type[T], messages: Sequence[ChatMessage], max_tokens: int | None
    ) -> object:
        limit = {} if max_tokens is None else {"max_tokens": max_tokens}

        def body(dialect: Dialect) -> Json:
            strict = dialect.response_format
            form: Json = {"type": "json_object"}
            if strict:
                name = schema.__name__[:64]
                described = {"name": name, "strict": True, "schema": strict_schema(schema)}
                form = {"type": "json_schema", "json_schema": described}
            return {
                "temperature": 0.0,
                **limit,
                "response_format": form,
                "messages": _as_params(messages, None if strict else schema),
            }

        try:
            return self._endpoint.post(body, answer=ChatCompletion)
        except openai.OpenAIError as error:
            message = f"{self.model}: {describe(error)}"
            raise CompletionError(message, kind=failure_kind(error)) from None
        except UnicodeEncodeError:
            raise CompletionError(
                "The API key or the prompt holds characters that cannot be sent.",
                kind=FailureKind.MISCONFIGURED,
            ) from None
        except ValueError:
            raise _UnusableError("the response is not JSON", "It was not JSON.") from None


def _read_answer(schema: type[T], completion: ChatCompletion) -> T:
    if not completion.choices or completion.choices[0].message is None:
        raise _UnusableError("no choices", "It was empty.")
    choice = completion.choices[0]
    if choice.finish_reason == "content_filter":
        raise CompletionError("A content filter stopped the answer.", kind=FailureKind.REFUSED)
    if choice.message.refusal:
        raise CompletionError("The model refused.", kind=FailureKind.REFUSED)
    if choice.finish_reason == "length":
        raise _UnusableError(
            "cut off at the length limit",
            "It was cut off before its end. Be briefer: fewer and shorter entries.",
        )
    text = choice.message.content or ""
    # Some models put their reasoning and a code fence round the JSON.
    bare = _REASONING.sub("", text).strip()
    fenced = _FENCE.match(bare)
    try:
        return schema.model_validate_json(fenced.group(1) if fenced else bare)
    except pydantic.ValidationError as error:
        problems = error.errors(include_url=False, include_input=False, include_context=False)
    named = [f"{'.'.join(map(str, p['loc'])) or 'the answer'}: {p['msg']}" for p in problems[:8]]
    raise _UnusableError(
        f"invalid ({', '.join(sorted({problem['type'] for problem in problems}))})",
        "It does not fit the schema:\n" + "\n".join(named),
        text,
    )


def _asked_again(messages: Sequence[ChatMessage], unusable: _UnusableError) -> list[ChatMessage]:
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


def strict_schema(schema: type[pydantic.BaseModel]) -> Json:
    """The JSON schema as strict mode requires it: closed objects, all required, no defaults."""
    # The client's one public function that builds a strict schema; it keeps defaults.
    parameters = openai.pydantic_function_tool(schema)["function"]["parameters"]
    return dict(_without_defaults(parameters))


def _without_defaults(node: Any, *, of_names: bool = False) -> Any:  # Any: a JSON schema
    if isinstance(node, list):
        return [_without_defaults(part) for part in node]
    if not isinstance(node, dict):
        return node
    return {
        key: _without_defaults(part, of_names=not of_names and key in {"properties", "$defs"})
        for key, part in node.items()
        if of_names or key != "default"
    }


def _as_params(
    messages: Sequence[ChatMessage], schema: type[pydantic.BaseModel] | None
) -> list[dict[str, str]]:
    """The messages as JSON; a schema to be described in words joins the system message."""
    sent = list(messages)
    if schema is not None:
        text = (
            "Answer with one JSON object and nothing else, no prose and no code fence. It must be "
            f"valid by this JSON schema:\n{json.dumps(strict_schema(schema))}"
        )
        # Many chat templates take a system message in the first place only.
        if sent and sent[0].role == "system":
            sent[0] = replace(sent[0], content=f"{sent[0].content}\n\n{text}")
        else:
            sent.insert(0, ChatMessage(role="system", content=text))
    return [{"role": message.role, "content": message.content} for message in sent]
