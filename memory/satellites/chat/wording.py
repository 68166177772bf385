"""Wording of the messages that the server adds."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

# Any, in this module: the protocol's JSON.
Json = Mapping[str, Any]

# The protocol's roles and those of the log.
ROLES = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}
MOST_NAME_CHARS = 200
_MOST_URL_CHARS = 500
_CALL = "[calls "


@dataclass(frozen=True, slots=True)
class Turn:
    """A message, or a part of a long one, as it is kept."""

    role: str
    text: str
    name: str = ""

    @property
    def digest(self) -> str:
        """24 characters that equal turns share: the same role and words, whatever their margins."""
        words = "\n".join(line.rstrip() for line in self.text.strip().splitlines())
        found = hashlib.sha256(f"{self.role}\n{words}".encode()).hexdigest()
        return found[:24]


def turns_of(message: Json, *, name: str = "", most_chars: int) -> list[Turn]:
    """A message as turns of at most `most_chars`, none without words; `name` is a tool's."""
    role = ROLES[message["role"]]
    text = text_of(message)
    if not text.strip():
        return []
    said_by = message.get("name") or name
    parts = [text[start : start + most_chars] for start in range(0, len(text), most_chars)]
    return [Turn(role, part, _name(said_by)) for part in parts if part.strip()]


def text_of(message: Json) -> str:
    """Returns the message's text, its tool calls included, without NUL and half surrogates."""
    lines = [part for part in _parts(message.get("content")) if part]
    if message.get("refusal"):
        lines.append(str(message["refusal"]))
    lines += [_call(_function(each)) for each in calls_of(message)]
    if isinstance(function := message.get("function_call"), Mapping):
        lines.append(_call(function))
    if isinstance(audio := message.get("audio"), Mapping) and audio.get("transcript"):
        lines.append(str(audio["transcript"]))
    return storable("\n".join(lines))


def spoken_text(message: Json) -> str:
    """The words alone of a message's content."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    found = [part.get("text") for part in content or () if part.get("type") == "text"]
    return "\n".join(text for text in found if isinstance(text, str))


def said_without_calls(text: str) -> str:
    """A kept text without the lines that tell of tool calls."""
    lines = text.split("\n")
    while lines and lines[-1].startswith(_CALL):
        lines.pop()
    return "\n".join(lines).strip()


def called_in(text: str) -> list[tuple[str, Json]]:
    """The tools that a kept text says were called, each with its arguments; none if unreadable."""
    found: list[tuple[str, Json]] = []
    for line in text.splitlines():
        if line.startswith(_CALL) and line.endswith("]"):
            name, _, given = line[len(_CALL) : -1].partition(" ")
            try:
                arguments = json.loads(given)
            except (ValueError, RecursionError):
                arguments = None
            found.append((name, arguments if isinstance(arguments, dict) else {}))
    return found


def calls_of(message: Json) -> Sequence[Json]:
    """The tool calls of an assistant's message."""
    calls = message.get("tool_calls")
    return [each for each in calls if isinstance(each, Mapping)] if isinstance(calls, list) else []


def tool_names(messages: Sequence[Json]) -> dict[str, str]:
    """The names of the tools that were called, by the id of the call."""
    found: dict[str, str] = {}
    for message in messages:
        for call in calls_of(message):
            found[str(call.get("id"))] = _line(_function(call).get("name"))
    return found


def storable(text: str) -> str:
    """The text with what the database cannot keep replaced by the mark of a lost character."""
    return text.replace("\x00", "\ufffd").encode(errors="replace").decode()


def _parts(content: object) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for part in content:
            if isinstance(part, Mapping):
                yield _part(part)


def _part(part: Json) -> str:
    kind = str(part.get("type"))
    value = part.get(kind)
    if kind == "text":
        return str(part.get("text") or "")
    if kind == "refusal":
        return str(value or "")
    if kind == "image_url":
        return _at("image", value.get("url") if isinstance(value, Mapping) else value)
    if kind == "input_audio" and isinstance(value, Mapping):
        return f"[audio {value.get('format') or ''}, {_fingerprint(value.get('data'))}]"
    if kind == "file" and isinstance(value, Mapping):
        known = value.get("file_id") or _fingerprint(value.get("file_data"))
        return f"[file {_line(value.get('filename'))} {_line(known)}]".replace("  ", " ")
    return f"[{_line(kind)}, {_fingerprint(json.dumps(part, sort_keys=True))}]"


def _at(what: str, address: object) -> str:
    """A link as it stands; what lies in the message itself by its kind and a fingerprint."""
    url = _line(address)
    if url.startswith("data:"):
        media = url[5:60].split(";")[0].split(",")[0]
        return f"[{what} {media}, {_fingerprint(url)}]"
    if len(url) > _MOST_URL_CHARS:
        return f"[{what} {url[:_MOST_URL_CHARS]}…, {_fingerprint(url)}]"
    return f"[{what} {url}]"


def _fingerprint(data: object) -> str:
    raw = str(data or "").encode(errors="replace")
    return f"{len(raw)} bytes, sha256 {hashlib.sha256(raw).hexdigest()[:12]}"


def _function(call: Json) -> Json:
    found = call.get("function") or call.get("custom")
    return found if isinstance(found, Mapping) else {}


def _call(function: Json) -> str:
    given = function.get("arguments", function.get("input"))
    try:
        # Clients write the arguments anew; what they say stays the same.
        given = json.dumps(json.loads(given), sort_keys=True, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        given = _line(given)
    return f"{_CALL}{_line(function.get('name'))} {given}]"


def _line(value: object) -> str:
    return " ".join(str(value or "").split())


def _name(value: object) -> str:
    kept = "".join(char for char in storable(_line(value)) if char.isprintable())
    return kept[:MOST_NAME_CHARS]
