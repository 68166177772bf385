"""Usage, tokens and messages of the chat protocol's JSON, which may have any shape."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .choices import estimate_tokens

# Any, in this module: JSON of the protocol, which may be anything.
Json = dict[str, Any]

LIMITS = ("max_tokens", "max_completion_tokens")
# Estimated tokens of a message beside its text, and of a picture.
_MESSAGE_TOKENS = 4
_PART_TOKENS = 800


def counted_usage(usage: object) -> tuple[int, int] | None:
    """Tokens read and written as the endpoint counted them; None if it did not."""
    if not isinstance(usage, Mapping):
        return None
    read, written = (
        each if isinstance(each, int) and not isinstance(each, bool) and each >= 0 else 0
        for each in (usage.get("prompt_tokens"), usage.get("completion_tokens"))
    )
    return (read, written) if read or written else None


def given_limits(parameters: Mapping[str, Any]) -> dict[str, int]:
    """Limits on the answer's tokens that a request has, by name; whole numbers like 100.0 count."""
    given = {name: parameters.get(name) for name in LIMITS}
    return {
        name: int(limit)
        for name, limit in given.items()
        if isinstance(limit, int | float)
        and not isinstance(limit, bool)
        and float(limit).is_integer()
    }


def tokens_of_request(messages: Iterable[Mapping[str, Any]], parameters: Mapping[str, Any]) -> int:
    """Estimated tokens of a request."""
    tokens = sum(_tokens_of(parameters.get(name)) for name in ("tools", "functions"))
    for each in messages:
        message, tokens = each, tokens + _MESSAGE_TOKENS
        if isinstance(parts := message.get("content"), list):
            tokens += sum(map(_tokens_of_part, parts))
            message = {**message, "content": None}
        tokens += tokens_of_message(message)
    return tokens


def tokens_of_message(message: object) -> int:
    """Estimated tokens of a message, with its tool calls and thoughts."""
    if not isinstance(message, Mapping):
        return 0
    return sum(_tokens_of(value) for name, value in message.items() if name != "role")


def _tokens_of(value: object) -> int:
    if value is None:
        return 0
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return estimate_tokens(text)


def _tokens_of_part(part: object) -> int:
    text = part.get("text") if isinstance(part, Mapping) else part
    return estimate_tokens(text) if isinstance(text, str) else _PART_TOKENS


class Gathered:
    """The message and usage that the chunks of a stream add up to."""

    def __init__(self) -> None:
        self.usage: tuple[int, int] | None = None
        self.finish_reason: str | None = None
        self._texts: dict[str, list[str]] = {}
        self._calls: dict[int, Json] = {}
        self._function: Json = {}

    def add(self, chunk: Json) -> None:
        """Adds a chunk; of several answers to one prompt the first is gathered."""
        self.usage = counted_usage(chunk.get("usage")) or self.usage
        for choice in mappings(chunk.get("choices")):
            if choice.get("index") not in (0, None):
                continue
            if isinstance(reason := choice.get("finish_reason"), str):
                self.finish_reason = reason
            if isinstance(delta := choice.get("delta"), Mapping):
                self._add_delta(delta)

    @property
    def message(self) -> Json:
        """The assistant's message so far; `content` is None if only tools are called."""
        texts = {name: "".join(parts) for name, parts in self._texts.items()}
        message: Json = {"role": "assistant", "content": None, **texts}
        if self._calls:
            message["tool_calls"] = [self._calls[index] for index in sorted(self._calls)]
        if self._function:
            message["function_call"] = self._function
        return message

    def _add_delta(self, delta: Mapping[str, Any]) -> None:
        for name, value in delta.items():
            if name != "role" and isinstance(value, str):
                self._texts.setdefault(name, []).append(value)
        for part in mappings(delta.get("tool_calls")):
            index = part.get("index")
            place = index if isinstance(index, int) else len(self._calls)
            is_custom = isinstance(part.get("custom"), Mapping) or part.get("type") == "custom"
            call = self._calls.setdefault(place, _new_call("custom" if is_custom else "function"))
            if isinstance(part.get("id"), str):
                call["id"] = part["id"] or call["id"]
            _append(call[call["type"]], part.get(call["type"]))
        if isinstance(function := delta.get("function_call"), Mapping):
            self._function = self._function or {"name": "", "arguments": ""}
            _append(self._function, function)


def _new_call(kind: str) -> Json:
    given = "input" if kind == "custom" else "arguments"
    return {"id": "", "type": kind, kind: {"name": "", given: ""}}


def _append(texts: Json, part: object) -> None:
    if isinstance(part, Mapping):
        for name in texts:
            if isinstance(text := part.get(name), str):
                texts[name] += text


def is_only_usage(chunk: Json) -> bool:
    """Returns whether a chunk holds the usage and nothing else."""
    return not chunk.get("choices") and chunk.get("usage") is not None


def has_answer(body: Json) -> bool:
    """Returns whether a whole answer has a message."""
    choices = body.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return isinstance(first, Mapping) and isinstance(first.get("message"), Mapping)


def mappings(value: object) -> Sequence[Mapping[str, Any]]:
    """Returns the JSON objects of a list, none where there is no list."""
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []
