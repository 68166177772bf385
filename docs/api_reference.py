"""The API as a page, from its OpenAPI schema: every operation, and every object that it names."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

# Any: parts of a schema, which are JSON.
_Json = Mapping[str, Any]

_LIMITS = {
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minimum": "from {}",
    "maximum": "to {}",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
    "default": "default `{}`",
}


def api_page(schema: _Json) -> str:
    """The page, as Markdown of MyST."""
    by_tag: dict[str, list[str]] = defaultdict(list)
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            for tag in operation.get("tags", ["other"])[:1]:
                by_tag[tag] += _operation(method, path, operation)
    lines = ["# API", "", _cell(schema["info"]["description"]), ""]
    lines += ["Every running server has this page, to try it out, at `/v1/docs`.", ""]
    for tag in sorted(by_tag):
        lines += [f"## {tag}", "", *by_tag[tag]]
    lines += ["## Objects", ""]
    for name, each in sorted(schema["components"]["schemas"].items()):
        lines += _object(name, each)
    return "\n".join(lines) + "\n"


def _operation(method: str, path: str, operation: _Json) -> Iterator[str]:
    yield from (f"### {method.upper()} {path}".replace("{", "\\{"), "")
    yield from (_text(operation.get("description", "")), "")
    if parameters := operation.get("parameters"):
        yield from ("| parameter | in | type | meaning |", "|---|---|---|---|")
        for each in parameters:
            name = f"`{each['name']}`" + (" (required)" if each.get("required") else "")
            meaning = _meaning({**each["schema"], "description": each.get("description", "")})
            yield f"| {name} | {each['in']} | {_type(each['schema'])} | {meaning} |"
        yield ""
    if body := operation.get("requestBody"):
        yield from (f"Body: {_contents(body)}.", "")
    yield from ("| answer | body | when |", "|---|---|---|")
    for status, answer in sorted(operation["responses"].items()):
        yield f"| {status} | {_contents(answer)} | {_cell(answer.get('description', ''))} |"
    yield ""


def _object(name: str, schema: _Json) -> Iterator[str]:
    yield from (f"({_anchor(name)})=", f"### {name}", "")
    if description := schema.get("description"):
        yield from (_text(description), "")
    if example := schema.get("example"):
        yield from ("```json", json.dumps(example, ensure_ascii=False, indent=2), "```", "")
    if properties := schema.get("properties"):
        required = schema.get("required", ())
        yield from ("| field | type | meaning |", "|---|---|---|")
        for field, each in properties.items():
            mark = " (required)" if field in required else ""
            yield f"| `{field}`{mark} | {_type(each)} | {_meaning(each)} |"
    else:
        yield _type(schema)
    yield ""


def _contents(part: _Json) -> str:
    """The types of a body or an answer, each with its media type unless that is plain JSON."""
    told = [
        _type(each.get("schema", {})) + ("" if kind == "application/json" else f" as `{kind}`")
        for kind, each in part.get("content", {}).items()
    ]
    return ", or ".join(told) or "none"


def _type(schema: _Json) -> str:
    """A type in a few words; objects that have a name are linked."""
    if reference := schema.get("$ref"):
        name = reference.rsplit("/", 1)[-1]
        return f"[{name}](#{_anchor(name)})"
    for joined in ("allOf", "oneOf", "anyOf"):
        if parts := schema.get(joined):
            return " or ".join(dict.fromkeys(map(_type, parts)))
    if values := schema.get("enum"):
        return ", ".join(f"`{each}`" for each in values)
    kind = schema.get("type", "anything")
    if kind == "array":
        return f"list of {_type(schema.get('items', {}))}"
    return f"{kind} ({schema['format']})" if "format" in schema else str(kind)


def _meaning(schema: _Json) -> str:
    limits = [told.format(schema[key]) for key, told in _LIMITS.items() if key in schema]
    if schema.get("nullable"):
        limits.append("or null")
    text = _cell(schema.get("description", ""))
    return " ".join([text, f"({', '.join(limits)})" if limits else ""]).strip()


def _anchor(name: str) -> str:
    return f"object-{name.lower()}"


def _text(text: str) -> str:
    return text.replace("<", "&lt;")


def _cell(text: str) -> str:
    return " ".join(_text(text).replace("|", "\\|").split())
