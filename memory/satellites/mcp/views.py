"""The MCP endpoint."""

from __future__ import annotations

from typing import Any, cast

import anyio
import orjson
from asgiref.sync import async_to_sync
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import path
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from rest_framework.request import Request
from rest_framework.views import APIView

from memory.api.rendering import MEDIA_TYPE
from memory.api.throttles import RequestRate
from memory.clients.afterwards import Gathered, gathering
from memory.satellites.mcp.rest import API, RestApi
from memory.satellites.mcp.server import memory_server
from teams.services.keys import Principal
from teams.tenancy import statements_within


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


# Codes of JSON-RPC.
_INVALID_REQUEST, _INTERNAL_ERROR = -32600, -32603


class McpView(APIView):
    """Streamable HTTP without sessions: each POST brings one message and takes its answer."""

    http_method_names = ["post"]
    schema = None
    # What a message asks of the API counts there as a request of its own.
    throttle_classes = (RequestRate,)
    _left: Gathered

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        # Any: Django's own signature
        """The answer; what it leaves in Redis goes there once the answer is sent."""
        # What a tool asks of the API has limits of its own.
        limit = statements_within(float(settings.READ_STATEMENT_SECONDS))
        with limit, gathering() as self._left:
            try:
                response = super().dispatch(request, *args, **kwargs)
            except BaseException:
                self._left.send()
                raise
        cast(Any, response)._resource_closers.append(self._left.send)
        return response

    def handle_exception(self, exc: Exception) -> Any:  # Any: Django REST framework's own signature
        """The refusal with its status, as an error of JSON-RPC, whose message clients show."""
        response = super().handle_exception(exc)
        problem = orjson.loads(response.content)
        code = _INVALID_REQUEST if response.status_code < 500 else _INTERNAL_ERROR
        error = {"code": code, "message": problem["detail"], "data": problem}
        response.content = orjson.dumps({"jsonrpc": "2.0", "id": None, "error": error})
        response["Content-Type"] = MEDIA_TYPE
        return response

    def perform_content_negotiation(self, request: Request, force: bool = False) -> Any:
        # Any: Django REST framework's own signature
        """Refuse nothing: the SDK looks at Accept, after another method than POST is refused."""
        return super().perform_content_negotiation(request, force=True)

    def post(self, request: Request) -> HttpResponse:
        """The answer to one message."""
        caller = cast(Principal, request.user)
        sent = request._request
        api = RestApi(
            request=sent,
            agent=caller.agent_slug,
            left=self._left,
            seconds=settings.STATEMENT_SECONDS,
        )
        return answer_message(sent, api)


urlpatterns = [path("mcp", McpView.as_view())]
