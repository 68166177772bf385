"""Refusals that come before an endpoint looks at a request, in the OpenAPI schema."""

from __future__ import annotations

from typing import Any

from memory.api.fields import NameField

_PROBLEM = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
_OF_ALL = {
    "400": "It is not written as HTTP, UTF-8 or JSON want it.",
    "429": "Too many requests; try again after Retry-After seconds.",
}
# The web server's own, without a body.
_LONG_ADDRESS = "The address is too long; POST takes long questions."
_OF_NAMES = {"404": "Nothing answers at the address."}
_OF_BODIES = {
    "413": "The body is larger than one may be; nothing was stored.",
    "415": "The body is no JSON, or does not say so.",
}


def document_early_refusals(
    result: dict[str, Any], generator: object, request: object, public: bool
) -> dict[str, Any]:  # Any: an OpenAPI document
    """Add these refusals to every operation, and what a name in an address looks like.

    It is a hook of drf-spectacular.
    """
    del generator, request, public
    for path, methods in result["paths"].items():
        for operation in methods.values():
            refusals = _OF_ALL | (_OF_BODIES if "requestBody" in operation else {})
            refusals |= _OF_NAMES if "{" in path else {}
            for each in operation.get("parameters", ()):
                if each["in"] == "path" and each["schema"] == {"type": "string"}:
                    each["schema"] |= {"minLength": 1, "pattern": NameField.pattern}
            for code, words in refusals.items():
                operation["responses"].setdefault(code, {"content": _PROBLEM, "description": words})
            operation["responses"]["414"] = {"description": _LONG_ADDRESS}
    return result
