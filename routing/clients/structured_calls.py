"""Answers in a given shape, for the server's own questions: from any OpenAI-compatible endpoint."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

import openai
import pydantic
from openai.types.chat import ChatCompletion

from .endpoints import (
    Dialect,
    adapted,
    describe,
    failure_kind,
    open_client,
    settings_problem,
)
from .protocol import ChatMessage, CompletionError, FailureKind
from .structured_answers import UnusableAnswerError, asked_again, read_answer
from .structured_schema import as_params, response_format

logger = logging.getLogger(__name__)

T = TypeVar("T", bound=pydantic.BaseModel)


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
        try:
            return self._attempt(schema, messages, max_tokens, on_usage, fault)
        except UnusableAnswerError as unusable:
            logger.info("model=%s asked again: %s", self.model, unusable.reason)
            again = asked_again(messages=messages, unusable=unusable)
        try:
            return self._attempt(schema, again, max_tokens, on_usage, fault)
        except UnusableAnswerError as unusable:
            reason = unusable.reason
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
        completion = self._request(schema, messages, max_tokens)
        # An endpoint may answer 200 with a page, or with an error object and no choices.
        if not isinstance(completion, ChatCompletion):
            raise UnusableAnswerError(reason="no JSON in the response", advice="It was empty.")
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
        answer = read_answer(schema=schema, completion=completion)
        if advice := fault(answer):
            raise UnusableAnswerError(reason=advice, advice=advice, answer=answer.model_dump_json())
        return answer

    def _request(
        self,
        schema: type[T],
        messages: Sequence[ChatMessage],
        max_tokens: int | None,
    ) -> object:
        known = dialect = self._dialect
        asked: dict[str, object] = {"temperature": 0.0}
        if max_tokens is not None:
            asked["max_tokens"] = max_tokens
        while True:
            strict = dialect.response_format
            parameters = {
                **asked,
                "response_format": response_format(schema=schema, is_strict=strict),
            }
            try:
                completion: object = self._client.post(
                    "/chat/completions",
                    cast_to=ChatCompletion,
                    body={
                        **dialect.worded(parameters),
                        "model": self.model,
                        "messages": as_params(messages=messages, schema=None if strict else schema),
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
                raise UnusableAnswerError(
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
