"""What a model's endpoint takes of a chat request, as far as its refusals have taught."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import openai

from routing.domain.chat_answers import Json
from routing.domain.choices import ModelChoice

from .structured_dialect import FILTERED, error_code

_OWN = frozenset({"model", "messages", "stream"})
_LIMITS = ("max_tokens", "max_completion_tokens")
# Codes of a 400 that leaving out the wish for a count would not cure.
_NOT_ABOUT_USAGE = FILTERED | {
    "context_length_exceeded",
    "invalid_api_key",
    "model_not_found",
    "string_above_max_length",
}


@dataclass(frozen=True, slots=True)
class ChatDialect:
    """Whether it counts tokens in streams, takes a temperature, and how it calls the limit."""

    stream_usage: bool = True
    temperature: bool = True
    max_completion_tokens: bool = False


def worded(
    *, parameters: Mapping[str, Any], choice: ModelChoice, dialect: ChatDialect, stream: bool
) -> Json:
    """The parameters for this model: what it cannot take is left out, renamed or lowered."""
    sent = {name: value for name, value in parameters.items() if name not in _OWN}
    for name in _LIMITS:
        limit = sent.get(name)
        if isinstance(limit, int) and not isinstance(limit, bool):
            sent[name] = min(limit, choice.max_output_tokens)
    if dialect.max_completion_tokens and "max_tokens" in sent:
        sent.setdefault("max_completion_tokens", sent["max_tokens"])
        del sent["max_tokens"]
    if not dialect.temperature:
        sent.pop("temperature", None)
    if not stream or not dialect.stream_usage:
        sent.pop("stream_options", None)
    else:
        asked = sent.get("stream_options")
        sent["stream_options"] = {
            **(asked if isinstance(asked, Mapping) else {}),
            "include_usage": True,
        }
    return sent


def adapted(
    *, dialect: ChatDialect, error: openai.APIStatusError, sent: Mapping[str, Any]
) -> ChatDialect | None:
    """The dialect to try after a 400 or 422; None when no other one would help."""
    param = str(error.param or "")
    if param == "temperature" and "temperature" in sent and dialect.temperature:
        return replace(dialect, temperature=False)
    if param == "max_tokens" and "max_tokens" in sent and not dialect.max_completion_tokens:
        return replace(dialect, max_completion_tokens=True)
    # Some endpoints name no parameter, so any unexplained 400 may be about the count.
    about_usage = param.startswith("stream_options") or (
        not param and error_code(error=error) not in _NOT_ABOUT_USAGE
    )
    if about_usage and "stream_options" in sent and dialect.stream_usage:
        return replace(dialect, stream_usage=False)
    return None
