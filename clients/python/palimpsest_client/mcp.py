"""`palimpsest-mcp`: the tools, resources and prompts of a server's `/mcp`, over stdio.

For editors that start a program and speak with it. PALIMPSEST_URL is the server's address and
PALIMPSEST_API_KEY the key. Every message is passed on as one request; nothing is kept here, so the
server may be away when the program starts, and each message that does not reach it says so.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

try:
    import anyio
    import httpx2
    import mcp_types as types
    from mcp.client.client import Client
    from mcp.client.streamable_http import streamable_http_client
    from mcp.server.lowlevel import Server
    from mcp.server.stdio import stdio_server
    from mcp.shared.exceptions import MCPError
    from pydantic import ValidationError
except ModuleNotFoundError as error:
    told = f"{error.name} is missing: in a clone of Palimpsest, pip install './clients/python[mcp]'"
    raise ModuleNotFoundError(told, name=error.name) from None

from palimpsest_client.client import release

# Requests of this version stand alone: no handshake comes before them.
VERSION = "2026-07-28"
# Above what the server takes for a message.
_TIMEOUT = httpx2.Timeout(90.0, connect=5.0)
# The last is of a port that there is not.
_NOT_REACHED = (httpx2.HTTPError, httpx2.InvalidURL, OverflowError)
_ParamsT = TypeVar("_ParamsT", bound=types.RequestParams)
_ResultT = TypeVar("_ResultT", bound=types.Result)


class Upstream:
    """The `/mcp` of a server."""

    def __init__(self, url: str, http: httpx2.AsyncClient) -> None:
        self._url = url
        self._http = http

    async def ask(self, request: types.Request[Any, Any], answer: type[_ResultT]) -> _ResultT:
        """Returns the server's answer; MCPError where it refuses or cannot be reached."""
        transport = streamable_http_client(self._url, http_client=self._http)
        try:
            async with Client(transport, mode=VERSION) as client:
                try:
                    return await client.session.send_request(request, answer)
                except (MCPError, ValidationError) as error:
                    # Past the client's task groups, which would wrap it.
                    refused = error
        except* _NOT_REACHED as errors:
            why: BaseException = errors
            while isinstance(why, BaseExceptionGroup):
                why = why.exceptions[0]
            told = f"Palimpsest was not reached at {self._url}."
            refused = _failed(f"{told} {type(why).__name__}: {why}")
        if isinstance(refused, ValidationError):
            refused = _failed(f"What answers at {self._url} is not Palimpsest's /mcp.")
        raise refused

    def passing(
        self, request: Callable[..., types.Request[Any, Any]], answer: type[_ResultT]
    ) -> Callable[[Any, _ParamsT | None], Awaitable[_ResultT]]:
        """A handler of the SDK's server that passes its requests on."""

        async def handle(_context: Any, params: _ParamsT | None) -> _ResultT:
            # Any: the SDK's own, which nothing is asked of
            sent = None if params is None else params.model_copy(update={"meta": None})
            return await self.ask(request(params=sent), answer)

        return handle


async def serve(url: str, key: str) -> None:
    """Answer the messages of stdin on stdout until stdin is closed."""
    headers = {"Authorization": f"Bearer {key}", "User-Agent": "palimpsest-mcp"}
    async with httpx2.AsyncClient(headers=headers, timeout=_TIMEOUT) as http:
        upstream = Upstream(url, http)
        instructions = None
        try:
            found = await upstream.ask(types.DiscoverRequest(), types.DiscoverResult)
            instructions = found.instructions
        except MCPError as error:
            sys.stderr.write(f"palimpsest-mcp: {error}\n")
        passing = upstream.passing
        server: Server[Any] = Server(  # Any: a server without a lifespan
            "palimpsest",
            title="Palimpsest",
            version=release(),
            instructions=instructions,
            on_list_tools=passing(types.ListToolsRequest, types.ListToolsResult),
            on_call_tool=passing(types.CallToolRequest, types.CallToolResult),
            on_list_resources=passing(types.ListResourcesRequest, types.ListResourcesResult),
            on_list_resource_templates=passing(
                types.ListResourceTemplatesRequest, types.ListResourceTemplatesResult
            ),
            on_read_resource=passing(types.ReadResourceRequest, types.ReadResourceResult),
            on_list_prompts=passing(types.ListPromptsRequest, types.ListPromptsResult),
            on_get_prompt=passing(types.GetPromptRequest, types.GetPromptResult),
        )
        async with stdio_server() as (read, write):
            await server.run(read, write, server.create_initialization_options())


def main() -> None:
    """Serve as the environment says; ends with 2 where it says too little."""
    url = os.environ.get("PALIMPSEST_URL", "http://127.0.0.1:8000")
    key = os.environ.get("PALIMPSEST_API_KEY", "")
    if not key.isascii() or not key.isprintable() or not key:
        sys.stderr.write("palimpsest-mcp: set PALIMPSEST_API_KEY to a key of the server.\n")
        sys.exit(2)
    base = url.rstrip("/").removesuffix("/v1").removesuffix("/mcp")
    anyio.run(serve, f"{base}/mcp", key)


def _failed(message: str) -> MCPError:
    return MCPError(code=types.INTERNAL_ERROR, message=message)


if __name__ == "__main__":
    main()
