"""How a schema is asked for: in the form that strict mode wants, or in words."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import openai
import pydantic

from .protocol import ChatMessage


def strict_schema(schema: type[pydantic.BaseModel]) -> dict[str, object]:
    """The JSON schema as strict mode wants it: closed objects, all required, no defaults.

    Free-form dictionaries (`dict[str, ...]` fields) have no strict form.
    """
    # The one public door of the client to its strict-schema builder; it keeps defaults.
    parameters = openai.pydantic_function_tool(schema)["function"]["parameters"]
    return dict(_without_defaults(parameters))


def _without_defaults(node: dict[str, Any]) -> dict[str, Any]:  # Any: a JSON schema
    kept: dict[str, Any] = {}
    for key, value in node.items():
        if key in {"properties", "$defs"}:
            kept[key] = {name: _without_defaults(part) for name, part in value.items()}
        elif key == "items":
            kept[key] = _without_defaults(value)
        elif key in {"anyOf", "allOf"}:
            kept[key] = [_without_defaults(part) for part in value]
        elif key != "default":
            kept[key] = value
    return kept


def as_params(
    *, messages: Sequence[ChatMessage], schema: type[pydantic.BaseModel] | None
) -> list[dict[str, str]]:
    """The messages as the client takes them; a schema that must be told joins the first one."""
    told = list(messages)
    if schema is not None:
        text = (
            "Answer with one JSON object and nothing else, no prose and no code fence. It must be "
            f"valid by this JSON schema:\n{json.dumps(strict_schema(schema))}"
        )
        # Many chat templates take a system message in the first place only.
        if told and told[0].role == "system":
            told[0] = replace(told[0], content=f"{told[0].content}\n\n{text}")
        else:
            told.insert(0, ChatMessage(role="system", content=text))
    return [{"role": message.role, "content": message.content} for message in told]


def response_format(*, schema: type[pydantic.BaseModel], is_strict: bool) -> dict[str, object]:
    """How the request asks for the schema: in full, or as any JSON object."""
    if not is_strict:
        return {"type": "json_object"}
    return {
        "type": "json_schema",
        "json_schema": {
            "name": schema.__name__[:64],
            "strict": True,
            "schema": strict_schema(schema),
        },
    }
