"""What calls to OpenAI-compatible endpoints share: the client, errors, dialects, and rest."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal
from urllib.parse import urlsplit

import openai

from teams.tracing import Attribute, Step, outgoing

from .protocol import FailureKind, ModelError

FILTERED = frozenset({"content_filter", "content_policy_violation"})
TOO_LONG = frozenset({"context_length_exceeded", "string_above_max_length"})
NOT_THERE = frozenset({"invalid_api_key", "model_not_found"})

_CONNECT_SECONDS = 5.0
_MOMENTARY = frozenset({408, 409, 425, 429})
_CODE = re.compile(r"[\w.\[\]-]{1,64}")


def settings_problem(*, base_url: str, api_key: str, model: str, prefix: str) -> str:
    """What the settings lack for a call, named by their `prefix`; "" where they will do."""
    if not model:
        return f"No model is named: set {prefix}_MODEL."
    if not base_url and not api_key.strip():
        return f"Set {prefix}_API_KEY, or {prefix}_BASE_URL for an endpoint of your own."
    if base_url:
        try:
            parts = urlsplit(base_url)
            usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
        except ValueError:
            usable = False
        if not usable:
            return f"{prefix}_BASE_URL must look like https://host/v1."
    return ""


def open_client(
    *,
    base_url: str,
    api_key: str,
    timeout: float,
    max_retries: int,
    follow_redirects: bool = True,
) -> openai.OpenAI:
    """A client; `timeout` is seconds without a byte. An empty `base_url` means the OpenAI API."""
    seconds = openai.Timeout(timeout, connect=min(timeout, _CONNECT_SECONDS))
    return openai.OpenAI(
        base_url=base_url or None,
        api_key=api_key.strip() or "none",
        timeout=seconds,
        max_retries=max_retries,
        http_client=openai.DefaultHttpxClient(timeout=seconds, follow_redirects=follow_redirects),
    )


def begin_call(client: openai.OpenAI, *, operation: str, model: str) -> Step:
    """The span of a call, `chat` or `embeddings`, after OpenTelemetry's conventions (gen_ai)."""
    attributes: dict[str, Attribute] = {
        "gen_ai.operation.name": operation,
        "gen_ai.provider.name": "openai",  # whose protocol it is
        "gen_ai.request.model": model,
        "server.address": client.base_url.host,
        "server.port": client.base_url.port or (80 if client.base_url.scheme == "http" else 443),
    }
    return outgoing(f"{operation} {model}", attributes)


def note_usage(made: Step, *, read: int, written: int | None = None) -> None:
    """Note on a call's span how many tokens it read and wrote."""
    made.note({"gen_ai.usage.input_tokens": read})
    if written is not None:
        made.note({"gen_ai.usage.output_tokens": written})


def error_code(error: openai.APIStatusError) -> str:
    """The server's error code where it is a plain token, else nothing."""
    code = str(error.code or "")
    return code if _CODE.fullmatch(code) else ""


def describe(error: openai.OpenAIError) -> str:
    """The error in our words: the server's own may repeat a prompt, a text or the key."""
    if isinstance(error, openai.APITimeoutError):
        return "timeout"
    if isinstance(error, openai.APIConnectionError):
        return "no connection"
    if not isinstance(error, openai.APIStatusError):
        return "an error in place of an answer"
    return f"HTTP {error.status_code} {error_code(error)}".rstrip()


def is_momentary(error: openai.OpenAIError) -> bool:
    """Whether the same request may succeed later: no connection, overload, an error of theirs."""
    if not isinstance(error, openai.APIStatusError):
        return True
    return error.status_code in _MOMENTARY or error.status_code >= 500


def failure_kind(error: openai.OpenAIError) -> FailureKind:
    """What the error means to who asked."""
    if isinstance(error, openai.APIStatusError) and error_code(error) in FILTERED:
        return FailureKind.REFUSED
    return FailureKind.UNAVAILABLE if is_momentary(error) else FailureKind.MISCONFIGURED


@dataclass(frozen=True, slots=True)
class Dialect:
    """What a model's endpoint takes of a chat request, as far as its refusals have taught."""

    response_format: bool = True
    stream_options: bool = True
    temperature: bool = True
    max_completion_tokens: bool = False

    def worded(self, parameters: Mapping[str, Any]) -> dict[str, Any]:  # Any: as JSON
        """The parameters, without a temperature and with the limit renamed where need be."""
        sent = dict(parameters)
        if not self.temperature:
            sent.pop("temperature", None)
        if self.max_completion_tokens and "max_tokens" in sent:
            limit = sent.pop("max_tokens")
            sent.setdefault("max_completion_tokens", limit)
        return sent


def adapted(
    *,
    dialect: Dialect,
    error: openai.APIStatusError,
    sent: Mapping[str, Any],  # Any: as JSON
    optional: Literal["response_format", "stream_options"],
) -> Dialect | None:
    """The dialect to try after a 400 or 422; None when no other one would help.

    `optional` is the parameter of ours that the request can do without.
    """
    param = str(error.param or "")
    if param == "temperature" and "temperature" in sent and dialect.temperature:
        return replace(dialect, temperature=False)
    if param == "max_tokens" and "max_tokens" in sent and not dialect.max_completion_tokens:
        return replace(dialect, max_completion_tokens=True)
    # Ollama, vLLM and others name no parameter, so any unexplained 400 may be about ours.
    unexplained = not param and error_code(error) not in FILTERED | TOO_LONG | NOT_THERE
    if (param.startswith(optional) or unexplained) and optional in sent:
        if optional == "response_format" and dialect.response_format:
            return replace(dialect, response_format=False)
        if optional == "stream_options" and dialect.stream_options:
            return replace(dialect, stream_options=False)
    return None


class EndpointRest:
    """Whether an endpoint is left alone; thread-safe, two threads may each ask it once more.

    When one call to an unavailable endpoint has cost more than `patience_seconds`, nobody asks it
    for `rest_seconds`.
    """

    def __init__(
        self,
        *,
        patience_seconds: float,
        rest_seconds: float,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._patience_seconds = patience_seconds
        self._rest_seconds = rest_seconds
        self._until = float("-inf")
        self._monotonic = monotonic

    def begin(self) -> float | None:
        """The moment at which a call begins; None while the endpoint is left alone."""
        now = self._monotonic()
        return None if now < self._until else now

    def note(self, error: ModelError, *, started: float) -> None:
        """Take note of a call that failed and began at `started`, as `begin` gave it."""
        now = self._monotonic()
        if error.kind is FailureKind.UNAVAILABLE and now - started > self._patience_seconds:
            self._until = now + self._rest_seconds
