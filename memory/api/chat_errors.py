"""Refusals of the chat endpoints: problem documents that clients of the protocol read as well.

The document keeps its media type and its honest status, and has one more member, `error`, in the
protocol's shape: its clients take that for the whole body.
"""

from __future__ import annotations

import json
from typing import Any

from django.http import HttpResponse

from routing.services.calling import NoModelAnsweredError, RequestRefusedError, StreamCutError
from routing.services.routes import NoModelConfiguredError
from teams.errors import DomainError

RETRY_HEADER = "X-Should-Retry"

_TYPES = {
    401: "authentication_error",
    402: "insufficient_quota",
    403: "permission_error",
    409: "conflict_error",
    429: "rate_limit_error",
}
_CODES = {
    401: "invalid_api_key",
    402: "budget_exceeded",
    403: "forbidden",
    404: "not_found",
    409: "conflict",
    422: "invalid_request",
    503: "unavailable",
}


def with_protocol_error(response: HttpResponse, error: Exception | None) -> HttpResponse:
    """The problem document with the `error` that clients of the protocol look for.

    Clients try 503 again by themselves; where that cannot help they are told not to.
    """
    try:
        document = json.loads(response.content)
    except ValueError:
        return response
    if not isinstance(document, dict) or "error" in document:
        return response
    document["error"] = protocol_error(
        status=response.status_code,
        message=str(document.get("detail") or document.get("title") or ""),
        fields=document.get("errors"),
        error=error,
    )
    response.content = json.dumps(document).encode()
    if isinstance(error, NoModelConfiguredError) or response.status_code == 402:
        response[RETRY_HEADER] = "false"
    return response


def protocol_error(
    *, status: int, message: str, fields: object = None, error: Exception | None = None
) -> dict[str, Any]:
    """An error in the protocol's shape."""
    kind = "server_error" if status >= 500 else "invalid_request_error"
    param = next(iter(fields), None) if isinstance(fields, dict) and fields else None
    return {
        "message": message,
        "type": _TYPES.get(status, kind),
        "param": param or None,
        "code": _code(status, param, error),
    }


def _code(status: int, param: object, error: Exception | None) -> str | None:
    if isinstance(error, NoModelConfiguredError):
        return "no_model_configured"
    if isinstance(error, NoModelAnsweredError):
        return "no_model_answered"
    if isinstance(error, StreamCutError):
        return "stream_cut"
    if isinstance(error, RequestRefusedError) and error.code:
        return error.code
    if status == 404 and param == "model":
        return "model_not_found"
    return _CODES.get(status)


def cut_off(error: DomainError) -> dict[str, Any]:
    """What a stream says in place of its end."""
    return {"error": protocol_error(status=503, message=error.message, error=error)}
