"""The MCP endpoint."""

from __future__ import annotations

from typing import Any, cast

import orjson
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import path
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request
from rest_framework.views import APIView

from memory.api.rendering import MEDIA_TYPE
from memory.api.throttles import RequestRate
from memory.clients.afterwards import Gathered, gathering
from teams.authentication import CALLER, ApiKeyAuthentication
from teams.services.keys import Principal
from teams.tenancy import reading_as, statements_within

# Codes of JSON-RPC.
_INVALID_REQUEST, _INTERNAL_ERROR = -32600, -32603

# Tried in this order; the first says in a 401 how to be let in. A satellite may put its own first.
AUTHENTICATIONS: list[type[BaseAuthentication]] = [ApiKeyAuthentication]


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

    def get_authenticators(self) -> list[BaseAuthentication]:
        return [each() for each in AUTHENTICATIONS]

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
        # The SDK takes most of a second to load, so only a message loads it.
        from memory.satellites.mcp.rest import RestApi
        from memory.satellites.mcp.server import answer_message

        caller = cast(Principal, request.user)
        sent = request._request
        sent.META[CALLER] = caller
        api = RestApi(
            request=sent,
            agent=caller.agent_slug,
            left=self._left,
            seconds=settings.STATEMENT_SECONDS,
        )
        with reading_as(caller.reader):
            return answer_message(sent, api)


urlpatterns = [path("mcp", McpView.as_view())]
