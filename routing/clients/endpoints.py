"""OpenAI-compatible endpoints: the client, errors, dialects, and rest after failures."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import httpx2
import openai

from routing.domain.chat_answers import Json
from routing.domain.endpoints import Reach, is_http_url
from teams.tracing import Step, outgoing

from .addresses import UnreachableAddressError, transport_within
from .protocol import FailureKind, ModelError

logger = logging.getLogger(__name__)

Optional = Literal["response_format", "stream_options"]

FILTERED = frozenset({"content_filter", "content_policy_violation"})
TOO_LONG = frozenset({"context_length_exceeded", "string_above_max_length"})
NOT_THERE = frozenset({"invalid_api_key", "model_not_found"})

OPENAI_URL = "https://api.openai.com/v1"
_CONNECT_SECONDS = 5.0
_MOMENTARY = frozenset({408, 409, 425, 429})
_CODE = re.compile(r"[\w.\[\]-]{1,64}")
_CHECK_SECONDS = 5.0
_NONSENSE = "It did not answer as the protocol requires."
_PRIVATE = (
    "Nothing was sent: it leads to an address of a private network or of this machine. Whoever runs"
    " the server allows a host with PROVIDER_PRIVATE_HOSTS."
)
_NO_LIST = frozenset({404, 405, 501})


def settings_problem(*, base_url: str, api_key: str, model: str, prefix: str) -> str:
    """The setting that a call lacks, named by its `prefix`; empty if none."""
    if not model:
        return f"No model is named: set {prefix}_MODEL."
    if not base_url and not api_key.strip():
        return f"Set {prefix}_API_KEY, or {prefix}_BASE_URL for an endpoint of your own."
    if base_url and not is_http_url(base_url):
        return f"{prefix}_BASE_URL must look like https://host/v1."
    return ""


def open_client(
    *,
    base_url: str,
    api_key: str,
    timeout: float,
    max_retries: int,
    follow_redirects: bool = True,
    reach: Reach = Reach.ANY,
) -> openai.OpenAI:
    """A client; `timeout` is seconds without a byte. An empty `base_url` means the OpenAI API."""
    seconds = openai.Timeout(timeout, connect=min(timeout, _CONNECT_SECONDS))
    return openai.OpenAI(
        # Not None: the library would read OPENAI_BASE_URL, which may be set and empty.
        base_url=base_url or OPENAI_URL,
        api_key=api_key.strip() or "none",
        timeout=seconds,
        max_retries=max_retries,
        http_client=openai.DefaultHttpxClient(
            timeout=seconds,
            follow_redirects=follow_redirects,
            transport=transport_within(reach),
        ),
    )


def begin_call(client: openai.OpenAI, *, operation: str, model: str) -> Step:
    """The span of a call, `chat` or `embeddings`, by OpenTelemetry's conventions (gen_ai)."""
    url = client.base_url
    return outgoing(
        f"{operation} {model}",
        {
            "gen_ai.operation.name": operation,
            "gen_ai.provider.name": "openai",  # the owner of the protocol
            "gen_ai.request.model": model,
            "server.address": url.host,
            "server.port": url.port or (80 if url.scheme == "http" else 443),
        },
    )


def note_usage(made: Step, *, read: int, written: int | None = None) -> None:
    """Adds the tokens read and written to a call's span."""
    made.note({"gen_ai.usage.input_tokens": read})
    if written is not None:
        made.note({"gen_ai.usage.output_tokens": written})


def error_code(error: openai.APIStatusError) -> str:
    """The endpoint's error code if it is a plain token, else empty."""
    code = str(error.code or "")
    return code if _CODE.fullmatch(code) else ""


def describe(error: openai.OpenAIError) -> str:
    """The error in our words: the endpoint's own may repeat a prompt, a text or the key."""
    if isinstance(error, openai.APITimeoutError):
        return "timeout"
    if is_unreachable(error):
        return "an address that may not be called"
    if isinstance(error, openai.APIConnectionError):
        return "no connection"
    if not isinstance(error, openai.APIStatusError):
        return "an error in place of an answer"
    return f"HTTP {error.status_code} {error_code(error)}".rstrip()


def is_unreachable(error: openai.OpenAIError) -> bool:
    """Returns whether nothing was sent because of the address that the host leads to."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, UnreachableAddressError):
        cause = cause.__cause__
    return cause is not None


def is_momentary(error: openai.OpenAIError) -> bool:
    """Returns whether the same request may succeed later."""
    if not isinstance(error, openai.APIStatusError):
        return True
    return error.status_code in _MOMENTARY or error.status_code >= 500


def failure_kind(error: openai.OpenAIError) -> FailureKind:
    """The kind of failure for whoever asked."""
    if isinstance(error, openai.APIStatusError) and error_code(error) in FILTERED:
        return FailureKind.REFUSED
    return FailureKind.UNAVAILABLE if is_momentary(error) else FailureKind.MISCONFIGURED


@dataclass(frozen=True, slots=True)
class Dialect:
    """The parameters that a model's endpoint accepts, learned from its refusals."""

    response_format: bool = True
    stream_options: bool = True
    temperature: bool = True
    max_completion_tokens: bool = False

    def worded(self, parameters: Json) -> Json:
        """The parameters without a temperature and with the limit renamed, if necessary."""
        sent = dict(parameters)
        if not self.temperature:
            sent.pop("temperature", None)
        if self.max_completion_tokens and "max_tokens" in sent:
            limit = sent.pop("max_tokens")
            sent.setdefault("max_completion_tokens", limit)
        return sent

    def after(
        self,
        error: openai.APIStatusError,
        sent: Json,
        optional: Optional,
    ) -> Dialect | None:
        """The dialect to try after a 400 or 422; None if none would help."""
        param = str(error.param or "")
        is_unknown = error_code(error) in {"", "unsupported_value", "unsupported_parameter"}
        if param == "temperature" and "temperature" in sent and is_unknown:
            return replace(self, temperature=False)
        if param == "max_tokens" and "max_tokens" in sent:
            return replace(self, max_completion_tokens=True)
        # Ollama, vLLM and others name no parameter, so any unexplained 400 may be about ours.
        unexplained = not param and error_code(error) not in FILTERED | TOO_LONG | NOT_THERE
        is_ours = optional in sent and (param.startswith(optional) or unexplained)
        return replace(self, **{optional: False}) if is_ours and getattr(self, optional) else None


class ChatEndpoint:
    """A chat model of an endpoint; thread-safe. `optional` is a parameter of ours it may lack."""

    def __init__(
        self,
        *,
        client: openai.OpenAI,
        model: str,
        optional: Optional,
    ) -> None:
        self.client = client
        self.model = model
        self._optional: Optional = optional
        # Replaced whole: threads that learn at the same time learn the same.
        self._dialect = Dialect()

    def begin(self) -> Step:
        """The span of a call."""
        return begin_call(self.client, operation="chat", model=self.model)

    def post(
        self,
        body: Callable[[Dialect], Json],
        *,
        answer: Any = object,  # Any: what the client parses the answer to
        stream: bool = False,
    ) -> object:
        """The answer to a body in the endpoint's dialect; raises OpenAIError and ValueError."""
        known = dialect = self._dialect
        while True:
            sent = {**dialect.worded(body(dialect)), "model": self.model}
            try:
                # Not by `chat.completions.create`, which takes request and answer apart by its own
                # types, and costs more than the rest of the call if a conversation is long.
                found: object = self.client.post(
                    "/chat/completions",
                    cast_to=answer,
                    body=sent,
                    stream=stream,
                    stream_cls=openai.Stream[object],
                )
            except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
                other = dialect.after(error, sent, self._optional)
                if other is None:
                    raise
                dialect = other
                continue
            if dialect != known:
                # Only now that it worked: a 400 for another reason must not lower the quality of
                # all later answers.
                self._dialect = dialect
                logger.warning("model=%s needs another dialect: %s", self.model, dialect)
            return found


class EndpointRest:
    """Leaves an endpoint alone for `rest_seconds` after a failure that took `patience_seconds`."""

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
        """The time at which a call begins; None while the endpoint is left alone."""
        now = self._monotonic()
        return None if now < self._until else now

    def note(self, error: ModelError, *, started: float) -> None:
        """Takes note of a call that failed and began at `started`."""
        now = self._monotonic()
        if error.kind is FailureKind.UNAVAILABLE and now - started > self._patience_seconds:
            self._until = now + self._rest_seconds


@dataclass(frozen=True, slots=True)
class EndpointCheck:
    """The result of a check in words, without those of the endpoint and the key."""

    is_well: bool
    words: str
    milliseconds: int


def check_endpoint(
    *,
    base_url: str,
    api_key: str,
    timeout: float,
    models: Sequence[str],
    reach: Reach = Reach.ANY,
) -> EndpointCheck:
    """Checks whether an endpoint answers and lists the models, or answers; never raises."""
    started = time.perf_counter()
    try:
        with open_client(
            base_url=base_url,
            api_key=api_key,
            timeout=min(timeout, _CHECK_SECONDS),
            max_retries=0,
            follow_redirects=False,
            reach=reach,
        ) as client:
            is_well, words = _checked(client, models)
    except openai.OpenAIError as error:
        is_well, words = False, _explained(error)
    except httpx2.InvalidURL:
        is_well, words = False, "Its address cannot be read: enter one such as https://host/v1."
    except (ValueError, AttributeError, TypeError):
        # The client cannot read the answer.
        is_well, words = False, _NONSENSE
    return EndpointCheck(is_well, words, round((time.perf_counter() - started) * 1000))


def _checked(client: openai.OpenAI, models: Sequence[str]) -> tuple[bool, str]:
    try:
        listed = {str(each.id) for each in client.models.list().data or ()}
    except openai.APIStatusError as error:
        if error.status_code not in _NO_LIST or not models:
            raise
        client.chat.completions.create(
            model=models[0], messages=[{"role": "user", "content": "Hi"}], max_tokens=1
        )
        return True, f"It does not list its models; asked for one token, {models[0]} answered."
    count = f"It answered and lists {len(listed)} model{'' if len(listed) == 1 else 's'}"
    missing = ", ".join(name for name in models if name not in listed)
    return (False, f"{count}, but not: {missing}.") if missing else (True, f"{count}.")


def _explained(error: openai.OpenAIError) -> str:
    if isinstance(error, openai.APITimeoutError):
        return "It did not answer in time."
    if is_unreachable(error):
        return _PRIVATE
    if isinstance(error, openai.APIConnectionError):
        return "It cannot be reached: look at the address, and whether it is up."
    if not isinstance(error, openai.APIStatusError):
        return _NONSENSE
    status, http = error.status_code, f"HTTP {error.status_code} {error_code(error)}".strip()
    if status in (401, 403):
        return f"It refuses the API key ({http})."
    if status == 404:
        return f"There is no such address ({http}): does it end as the provider says?"
    if status == 429:
        return f"It is asked too much, or the account is used up ({http})."
    if 300 <= status < 400:
        return f"It leads to another address ({http}): enter that one."
    return f"It answered with an error ({http})."
