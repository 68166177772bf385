"""The official MCP client in front of a real server, for tests."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

import anyio
import httpx2
import palimpsest_client
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, TextContent
from rest_framework.test import APIClient

from teams.models import Agent
from teams.services.keys import issue_key
from teams.tenancy import team_scope
from tests.support.cast import Cast

# The handshake of 2025, and requests without one as of 2026.
MODES = ("legacy", "2026-07-28")
_T = TypeVar("_T")


@dataclass(frozen=True)
class Editor:
    """An MCP client with a key; every call opens a connection of its own."""

    url: str
    token: str
    mode: str = "legacy"
    headers: Mapping[str, str] = field(default_factory=dict)

    def run(self, act: Callable[[Client], Awaitable[_T]]) -> _T:
        """Returns the result of `act` with a connected client; raises its MCPError unwrapped."""

        async def connected() -> _T | MCPError:
            async with self.connection() as transport, Client(transport, mode=self.mode) as client:
                try:
                    return await act(client)
                except MCPError as error:
                    # Past the client's task groups, which would wrap it.
                    return error

        outcome = anyio.run(connected)
        if isinstance(outcome, MCPError):
            raise outcome
        return outcome

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Any]:
        """Provides the client's transport."""
        sent = {"Authorization": f"Bearer {self.token}", **self.headers}
        async with httpx2.AsyncClient(headers=sent, timeout=30) as http:
            yield streamable_http_client(self.url, http_client=http)

    def call(self, tool: str, **given: Any) -> Any:
        """The structured answer, which the client has held against the tool's schema."""
        result = self.result(tool, **given)
        assert not result.is_error, said(result)
        assert result.structured_content is not None
        return result.structured_content

    def refusal(self, tool: str, **given: Any) -> str:
        """The words of a call that fails."""
        result = self.result(tool, **given)
        assert result.is_error, said(result)
        return said(result)

    def result(self, tool: str, **given: Any) -> CallToolResult:
        """Whatever the call gives."""
        return self.run(lambda client: client.call_tool(tool, given))

    def sending(self, **headers: str) -> Editor:
        """The same with these headers besides, a _ for each -."""
        return replace(self, headers={name.replace("_", "-"): headers[name] for name in headers})

    def speaking(self, mode: str) -> Editor:
        """The same with another generation of the protocol."""
        return replace(self, mode=mode)

    def api(self) -> APIClient:
        """The same key over REST."""
        client = APIClient()
        client.credentials(HTTP_AUTHORIZATION=f"Bearer {self.token}")
        return client


@dataclass(frozen=True)
class StdioEditor(Editor):
    """The same by `palimpsest-mcp`, a program that each call starts."""

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Any]:
        """The program."""
        yield stdio_program(self.url.removesuffix("/mcp"), self.token)


def stdio_program(url: str, token: str) -> StdioServerParameters:
    """`palimpsest-mcp` as an editor starts it."""
    environment = {
        "PALIMPSEST_URL": url,
        "PALIMPSEST_API_KEY": token,
        "PYTHONPATH": str(Path(palimpsest_client.__file__).parents[1]),
    }
    return StdioServerParameters(
        command=sys.executable, args=["-m", "palimpsest_client.mcp"], env=environment
    )


def editor_of(
    cast: Cast, url: str, *, agent: Agent | None = None, is_read_only: bool = False
) -> Editor:
    """A client with a new key of the team."""
    with team_scope(team_ids=[cast.team.id], actor="test"):
        issued = issue_key(team_id=cast.team.id, agent=agent, is_read_only=is_read_only)
    return Editor(f"{url}/mcp", issued.token)


def said(result: CallToolResult) -> str:
    """The texts of a result."""
    return "\n".join(each.text for each in result.content if isinstance(each, TextContent))
