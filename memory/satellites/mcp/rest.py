"""Calls the views of the REST API in the same process."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from io import BytesIO
from time import monotonic
from typing import Any, TypeVar, cast
from urllib.parse import parse_qs, urlencode, urlsplit
from uuid import NAMESPACE_OID, uuid5

import orjson
from asgiref.sync import sync_to_async
from django.core.handlers.wsgi import WSGIRequest
from django.http import HttpRequest
from django.http.response import HttpResponse
from django.urls import Resolver404, resolve
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError
from rest_framework.response import Response

from memory.clients.afterwards import Gathered
from teams.services.idempotency import HEADER

_URLS = "memory.api.urls"
_KEY = f"HTTP_{HEADER.upper().replace('-', '_')}"
# Of the headers, where it was asked; the others are about the message that brought it.
_KEPT = ("HTTP_HOST",)

# Callers here have arguments.
_WORDS = "This field", "This argument"
# Any: JSON
Json = dict[str, Any]


class RefusedError(Exception):
    """A refusal of the API in words for a model, with its HTTP status."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


class RestApi:
    """The API as the sender of one MCP message may use it.

    Every call has the caller of the message (`CALLER` in its environment), so that their limits,
    rights and what they may see hold as they do over HTTP. `left` is what is sent to Redis once the
    message is answered. After so many `seconds` no further call is begun.
    """

    def __init__(self, *, request: HttpRequest, agent: str, left: Gathered, seconds: float) -> None:
        self._request = request
        self._left = left
        self._deadline = monotonic() + seconds
        self.agent = agent or None

    def thread_of_key(self) -> str | None:
        """Returns a thread id that goes with the message's Idempotency-Key, None without one."""
        key = self._request.META.get(_KEY)
        return str(uuid5(NAMESPACE_OID, f"idempotency key {key}")) if key else None

    def ask(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
        is_keyed: bool = False,
        names: Mapping[str, str] | None = None,
    ) -> Json:
        """Returns the endpoint's answer; parameters and fields that are None are left out.

        `is_keyed` says that the message's Idempotency-Key is this call's. `names` are the caller's
        arguments by the fields of the API, empty for an object whose fields are arguments; of
        several that begin a field's name the first counts. Raises RefusedError.
        """
        if monotonic() > self._deadline:
            raise RefusedError(503, "This takes too long; ask for less at a time, or try again.")
        # The place of the key that the message or the last call took is given back for this one.
        self._left.send()
        environ = self._environ(method, path, query or {}, body, is_keyed=is_keyed)
        try:
            found = resolve(path, urlconf=_URLS)
        except Resolver404:
            raise RefusedError(404, f"There is nothing at {path}.") from None
        answer = found.func(WSGIRequest(environ), *found.args, **found.kwargs)
        if isinstance(answer, Response) and not answer.is_rendered:
            answer.render()
        content = orjson.loads(answer.content) if answer.content else {}
        if answer.status_code >= 400:
            raise RefusedError(answer.status_code, _told(content, answer, names or {}))
        return cast(Json, content)

    def _environ(
        self,
        method: str,
        path: str,
        query: Mapping[str, Any],
        body: Mapping[str, Any] | None,
        *,
        is_keyed: bool,
    ) -> dict[str, Any]:
        kept = (*_KEPT, _KEY) if is_keyed else _KEPT
        meta = self._request.META.items()
        try:
            sent = b"" if body is None else orjson.dumps(_given(body))
        except TypeError as error:
            raise RefusedError(422, f"This cannot be sent as JSON: {error}.") from None
        return {
            **{name: value for name, value in meta if name in kept or not name.startswith("HTTP_")},
            "REQUEST_METHOD": method,
            "PATH_INFO": f"/v1{path}".encode().decode("latin-1"),
            "QUERY_STRING": urlencode(_given(query), doseq=True),
            "CONTENT_TYPE": "application/json",
            "CONTENT_LENGTH": str(len(sent)),
            "wsgi.input": BytesIO(sent),
        }


def next_cursor(page: Json) -> str | None:
    """The cursor of the page after this one, if there is one."""
    found = parse_qs(urlsplit(page["next"] or "").query).get("cursor")
    return found[0] if found else None


def _given(values: Mapping[str, Any]) -> Json:
    return {name: value for name, value in values.items() if value is not None}


def _told(problem: Json, answer: HttpResponse, names: Mapping[str, str]) -> str:
    """The detail of a problem, or of each wrong field, and when to try again."""
    fields: Mapping[str, Sequence[str]] = problem.get("errors") or {}
    wrong = [
        ": ".join(filter(None, (_argument(name, names), told[0].replace(*_WORDS))))
        for name, told in fields.items()
        if name
    ]
    words = " ".join(wrong) or str(problem.get("detail", "The request was refused."))
    if wait := answer.headers.get("Retry-After"):
        words += f" Try again after {wait} seconds."
    return words


def _argument(field: str, names: Mapping[str, str]) -> str:
    for of_api, of_caller in names.items():
        if found := re.match(rf"{re.escape(of_api)}(?=[.\[]|$)", field):
            return f"{of_caller}{field[found.end() :]}".removeprefix(".")
    return field


# Where the ASGI scope of a message holds its RestApi.
API = "palimpsest.api"
# Any: a server without a lifespan, and requests of the transport.
Asker = Context[Any, Any]
_T = TypeVar("_T")


async def of_api(ctx: Asker, act: Callable[[RestApi], _T]) -> _T:
    """Returns the result of `act`, run by the thread that answers the message, on its connection.

    A refusal becomes the SDK's error for what was foreseen, which tells its words.
    """
    request = ctx.request_context.request
    assert request is not None, "messages come over HTTP"
    api: RestApi = request.scope[API]
    try:
        return await sync_to_async(act, thread_sensitive=True)(api)
    except RefusedError as error:
        is_missing = error.status == HTTPStatus.NOT_FOUND
        kind = ResourceNotFoundError if is_missing else ResourceError
        raise kind(error.message) from None
