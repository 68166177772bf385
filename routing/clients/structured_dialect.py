"""How a request is worded for an endpoint, and what its refusals teach about that."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import openai
import pydantic
from openai.types.chat import ChatCompletionMessageParam
from openai.types.shared_params import ResponseFormatJSONObject, ResponseFormatJSONSchema

from .protocol import ChatMessage

FILTERED = frozenset({"content_filter", "content_policy_violation"})
_TOKEN = re.compile(r"[\w.\[\]-]{1,64}")
# Codes of a 400 that another response format would not cure.
_NOT_ABOUT_FORMAT = frozenset(
    {"context_length_exceeded", "invalid_api_key", "model_not_found", "string_above_max_length"}
)


@dataclass(frozen=True, slots=True)
class Dialect:
    """What an endpoint accepts, as far as its refusals have taught."""

    json_schema: bool = True
    temperature: bool = True
    max_completion_tokens: bool = False


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
) -> list[ChatCompletionMessageParam]:
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
    params: list[ChatCompletionMessageParam] = []
    for message in told:
        if message.role == "system":
            params.append({"role": "system", "content": message.content})
        elif message.role == "assistant":
            params.append({"role": "assistant", "content": message.content})
        else:
            params.append({"role": "user", "content": message.content})
    return params


def response_format(
    *, schema: type[pydantic.BaseModel], dialect: Dialect
) -> ResponseFormatJSONSchema | ResponseFormatJSONObject:
    """How the request asks for the schema: in full, or as any JSON object."""
    if not dialect.json_schema:
        return {"type": "json_object"}
    return {
        "type": "json_schema",
        "json_schema": {
            "name": schema.__name__[:64],
            "strict": True,
            "schema": strict_schema(schema),
        },
    }


def error_code(*, error: openai.APIStatusError) -> str:
    """The server's error code where it is a plain token, else nothing."""
    code = str(error.code or "")
    return code if _TOKEN.fullmatch(code) else ""


def adapted(*, dialect: Dialect, error: openai.APIStatusError) -> Dialect | None:
    """The dialect to try after a 400 or 422; None when no other one would help."""
    param = str(error.param or "")
    if param == "temperature" and dialect.temperature:
        return replace(dialect, temperature=False)
    if param == "max_tokens" and not dialect.max_completion_tokens:
        return replace(dialect, max_completion_tokens=True)
    # Ollama, vLLM and their kin name no parameter, so any unexplained 400 may be about the format.
    about_format = param.startswith("response_format") or (
        not param and error_code(error=error) not in _NOT_ABOUT_FORMAT | FILTERED
    )
    if dialect.json_schema and about_format:
        return replace(dialect, json_schema=False)
    return None
