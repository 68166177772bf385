"""Answers in a given shape, for the server's own questions: from any OpenAI-compatible endpoint."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from typing import TypeVar
from urllib.parse import urlsplit

import openai
import pydantic
from openai.types.chat import ChatCompletion

from .protocol import ChatMessage, CompletionError, FailureKind
from .structured_answers import UnusableAnswerError, asked_again, read_answer
from .structured_dialect import FILTERED, Dialect, adapted, as_params, error_code, response_format

logger = logging.getLogger(__name__)

T = TypeVar("T", bound=pydantic.BaseModel)

_CONNECT_SECONDS = 5.0


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
        self._dialect = Dialect()
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
            return self._attempt(schema, messages, max_tokens, temperature, on_usage, fault)
        except UnusableAnswerError as unusable:
            logger.info("model=%s asked again: %s", self.model, unusable.reason)
            again = asked_again(messages=messages, unusable=unusable)
        try:
            return self._attempt(schema, again, max_tokens, temperature, on_usage, fault)
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
        temperature: float,
        on_usage: Callable[[int, int], None] | None,
        fault: Callable[[T], str],
    ) -> T:
        started = time.monotonic()
        completion = self._request(schema, messages, max_tokens, temperature)
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
        temperature: float,
    ) -> object:
        known = dialect = self._dialect
        while True:
            limit = openai.omit if max_tokens is None else max_tokens
            try:
                completion = self._client.chat.completions.create(
                    model=self.model,
                    messages=as_params(
                        messages=messages, schema=None if dialect.json_schema else schema
                    ),
                    response_format=response_format(schema=schema, dialect=dialect),
                    temperature=temperature if dialect.temperature else openai.omit,
                    max_tokens=openai.omit if dialect.max_completion_tokens else limit,
                    max_completion_tokens=limit if dialect.max_completion_tokens else openai.omit,
                )
            except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
                other = adapted(dialect=dialect, error=error)
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
        if error_code(error=error) in FILTERED:
            kind = FailureKind.REFUSED
        elif error.status_code in {408, 409, 425, 429} or error.status_code >= 500:
            kind = FailureKind.UNAVAILABLE
        return CompletionError(
            f"{self.model}: HTTP {error.status_code} {error_code(error=error)}".rstrip(), kind=kind
        )


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
