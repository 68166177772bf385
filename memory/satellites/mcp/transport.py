"""One message over the SDK's own streamable HTTP transport, from a WSGI request.

The transport is an ASGI application. It runs once for the message, stateless and answering JSON,
in an event loop of its own; what it asks of the API is run by the thread of the request.
"""

from __future__ import annotations

from typing import Any

import anyio
from asgiref.sync import async_to_sync
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings

from memory.satellites.mcp.asking import API
from memory.satellites.mcp.rest import RestApi
from memory.satellites.mcp.server import memory_server


def answer_message(request: HttpRequest, api: RestApi) -> HttpResponse:
    """The answer to the message that the request brings."""
    return async_to_sync(_answer)(request, api)


async def _answer(request: HttpRequest, api: RestApi) -> HttpResponse:
    manager = StreamableHTTPSessionManager(
        memory_server().lowlevel,
        json_response=True,
        stateless=True,
        security_settings=TransportSecuritySettings(
            # Django has checked the host, and knows what a proxy was asked for.
            allowed_hosts=[request.get_host()],
            allowed_origins=settings.CSRF_TRUSTED_ORIGINS,
        ),
    )
    bodies = [request.body]
    response = HttpResponse()

    async def receive() -> dict[str, Any]:
        if not bodies:
            await anyio.sleep_forever()
        return {"type": "http.request", "body": bodies.pop(), "more_body": False}

    async def send(event: Any) -> None:  # Any: ASGI's own events
        if event["type"] == "http.response.start":
            response.status_code = event["status"]
            del response["Content-Type"]
            for name, value in event["headers"]:
                response[name.decode("latin-1")] = value.decode("latin-1")
        else:
            response.write(event.get("body", b""))

    async with manager.run():
        await manager.handle_request(_scope(request, api), receive, send)
    return response


def _scope(request: HttpRequest, api: RestApi) -> dict[str, Any]:
    headers = {**request.headers, "Host": request.get_host()}.items()
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": request.scheme,
        "path": request.path,
        "root_path": "",
        "query_string": b"",
        "headers": [
            (name.lower().encode("latin-1"), str(value).encode("latin-1"))
            for name, value in headers
        ],
        API: api,
    }
