"""Default answers of the tests' local OpenAI server, always the same."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import struct
from collections.abc import Iterator
from typing import Any

# Any, in this module: parsed JSON, which may be anything.
Json = dict[str, Any]

MODEL = "fake-model"
_CONVERSATION = re.compile(r"<conversation>\n(.*?)\n</conversation>", re.DOTALL)
_NOTED = re.compile(r"<noted>\n(.*?)\n</noted>", re.DOTALL)
_SIDES = tuple(
    re.compile(rf"<{tag}((?:-\d+)?)>\n(.*?)\n</{tag}\1>", re.DOTALL) for tag in ("older", "newer")
)
_MESSAGE = re.compile(
    r"^\[(\d+)\] (\w+)(?: ([^\n(]+))? \((\d{4}-\d\d-\d\d)[^)\n]*\): (.*?)(?=\n\[\d+\] |\Z)",
    re.DOTALL | re.MULTILINE,
)
_TOLD_SCHEMA = re.compile(r"valid by this JSON schema:\n(\{.*?\})(?:\n|$)")


def own_content(body: Json) -> str:
    """Returns the unscripted answer: memories, or the emptiest value of the requested schema."""
    prompt = "\n".join(str(message.get("content") or "") for message in body.get("messages", []))
    schema = _schema_of(body, prompt)
    if schema is None:
        return "OK"
    if "memories" in schema.get("properties", {}) and _CONVERSATION.search(prompt):
        return json.dumps({"memories": list(memories(prompt))})
    if "judgements" in schema.get("properties", {}):
        told = [{"number": place, **each} for place, each in enumerate(verdicts(prompt), 1)]
        return json.dumps({"judgements": told})
    return json.dumps(emptiest(schema, schema))


def verdicts(prompt: str) -> list[Json]:
    """On each pair of statements in their order."""
    sides = [[text.rpartition("text: ")[2] for _, text in p.findall(prompt)] for p in _SIDES]
    return [verdict(older, newer) for older, newer in zip(*sides, strict=True)]


def verdict(older: str, newer: str) -> Json:
    """Superseded where the newer statement speaks of a change, else both stand."""
    changed = re.search(r"\b(now|no longer|moved|switched)\b", newer)
    return {
        "reason": f"it says {changed.group(1)}" if changed else "both can hold",
        "older_value": _last_alone(older, newer) if changed else "",
        "newer_value": _last_alone(newer, older) if changed else "",
        "verdict": "supersede" if changed else "coexist",
        "confidence": 0.9,
    }


def _last_alone(one: str, other: str) -> str:
    """The last word of one text that the other lacks."""
    theirs = set(re.findall(r"\w+", other))
    return next((word for word in re.findall(r"\w+", one)[::-1] if word not in theirs), "")


def _schema_of(body: Json, prompt: str) -> Json | None:
    form = body.get("response_format") or {}
    if form.get("type") == "json_schema":
        schema: Json = form["json_schema"]["schema"]
        return schema
    if form.get("type") == "json_object":
        told = _TOLD_SCHEMA.search(prompt)
        return json.loads(told.group(1)) if told else {"type": "object"}
    return None


def memories(prompt: str) -> Iterator[Json]:
    """One memory for each user message that tells something and is not noted yet."""
    conversation = _CONVERSATION.findall(prompt)[-1]
    noted = _NOTED.search(prompt)
    numbers = re.findall(r"^- \[([\d, ]*)\]", noted.group(1) if noted else "", re.MULTILINE)
    known = {int(number) for group in numbers for number in group.split(",") if number.strip()}
    for match in _MESSAGE.finditer(conversation):
        number, role, name, day, text = match.groups()
        said = " ".join(text.split())
        if role != "user" or int(number) in known or said.endswith("?") or said.count(" ") < 2:
            continue
        yield {
            "content": f"{name or 'User'} said on {day}: {said}"[:280],
            "type": "semantic",
            "audience": "person",
            "messages": [int(number)],
            "importance": 10 if re.search(r"\bremember\b", said, re.IGNORECASE) else 5,
            "confidence": 0.9,
            "subject": "",
            "category": "none",
            "sensitive_field": "none",
            "valid_from": "",
            "valid_to": "",
        }


def emptiest(schema: Json, root: Json) -> object:
    """The least value that a JSON schema allows, without bounds and patterns."""
    if "$ref" in schema:
        return emptiest(root["$defs"][str(schema["$ref"]).rpartition("/")[2]], root)
    if "enum" in schema:
        return schema["enum"][0]
    if "anyOf" in schema:
        return emptiest(schema["anyOf"][-1], root)
    if schema.get("type") == "object":
        parts = schema.get("properties", {})
        return {name: emptiest(part, root) for name, part in parts.items()}
    empty: Json = {"array": [], "string": "", "boolean": False, "null": None}
    return empty.get(str(schema.get("type")), schema.get("minimum", 0))


def embeddings(body: Json) -> Json:
    """Unit vectors of hashed words: texts that share words are near each other."""
    texts = body.get("input", [])
    texts = [texts] if isinstance(texts, str) else texts
    size = int(body.get("dimensions") or 256)
    data = []
    for index, text in enumerate(texts):
        vector = _vector(str(text), size)
        packed = base64.b64encode(struct.pack(f"<{size}f", *vector)).decode()
        value = packed if body.get("encoding_format") == "base64" else vector
        data.append({"object": "embedding", "index": index, "embedding": value})
    tokens = sum(len(str(text)) // 4 for text in texts)
    return {
        "object": "list",
        "data": data,
        "model": body.get("model", MODEL),
        "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
    }


def _vector(text: str, size: int) -> list[float]:
    vector = [0.0] * size
    for word in re.findall(r"\w+", text.lower()) or [text]:
        digest = hashlib.sha256(word.encode()).digest()
        vector[int.from_bytes(digest[:4], "little") % size] += 1.0 if digest[4] % 2 else -1.0
    length = sum(part * part for part in vector) ** 0.5
    return [part / length for part in vector] if length else [1.0] + [0.0] * (size - 1)


def usage(body: Json, content: str | None) -> Json:
    """Returns the token usage of an answer, at four characters a token."""
    prompt_tokens = len(json.dumps(body.get("messages"))) // 4
    completion_tokens = len(content or "") // 4
    return {
        "prompt_tokens": prompt_tokens,
        "completion_tokens": completion_tokens,
        "total_tokens": prompt_tokens + completion_tokens,
    }
