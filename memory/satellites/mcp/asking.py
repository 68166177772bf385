"""How tools, resources and prompts reach the API from the event loop of their message."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from typing import Any, TypeVar

from asgiref.sync import sync_to_async
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError

from memory.satellites.mcp.rest import RefusedError, RestApi

# Where the ASGI scope of a message holds its RestApi.
API = "palimpsest.api"
# Any: a server without a lifespan, and requests of the transport.
Asker = Context[Any, Any]
_T = TypeVar("_T")


async def of_api(ctx: Asker, act: Callable[[RestApi], _T]) -> _T:
    """What `act` gives, run by the thread that answers the message, which has its connection.

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
