"""What the OpenAPI schema says of every endpoint alike."""

from __future__ import annotations

from typing import Any

from teams.services.idempotency import HEADER, MAX_KEY_CHARS

from .idempotency import REPLAY_HEADER

_PARAMETER = {
    "in": "header",
    "name": HEADER,
    "schema": {"type": "string", "minLength": 1, "maxLength": MAX_KEY_CHARS},
    "description": (
        "A value of your own for this one request, such as a UUID. Sent again with the same body"
        " within a day, it is not carried out again: the first answer comes back with"
        f" `{REPLAY_HEADER}: true`. With another body it is refused (422), and while the first one"
        " is under way too (409). What was refused is not kept and may be sent again."
    ),
}
_REFUSALS = {
    "409": "It conflicts with what is stored or under way.",
    "422": "A field is wrong; nothing was stored.",
}
_PROBLEM = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}


def document_idempotency(
    result: dict[str, Any], generator: object, request: object, public: bool
) -> dict[str, Any]:  # Any: an OpenAPI document
    """Add the header and its refusals to every POST (a hook of drf-spectacular)."""
    del generator, request, public
    for methods in result["paths"].values():
        operation = methods.get("post")
        if operation is None:
            continue
        operation.setdefault("parameters", []).append(_PARAMETER)
        for code, words in _REFUSALS.items():
            operation["responses"].setdefault(code, {"content": _PROBLEM, "description": words})
    return result
