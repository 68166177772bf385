"""Resources and prompts: who a person and an agent are, and how a conversation starts."""

from __future__ import annotations

from typing import Annotated

import orjson
from mcp.server.mcpserver.exceptions import ResourceError
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS
from pydantic import Field

from memory.satellites.mcp.asking import Asker, of_api
from memory.satellites.mcp.rest import RestApi

PROFILE = "palimpsest://people/{user}/profile"
DOCUMENT = "palimpsest://agents/{agent}/document"
_OPENING = "What should be known at the start of a conversation?"


async def profile(user: str, ctx: Asker) -> str:
    """A person with the approved profile, and what waits for a yes."""
    return await _document(ctx, f"/users/{user}")


async def document(agent: str, ctx: Asker) -> str:
    """An agent's identity document: personality, rules, skills, settings."""
    return await _document(ctx, f"/agents/{agent}")


async def start_of_conversation(
    ctx: Asker,
    agent: Annotated[
        str | None, Field(description="Who answers; the key's own agent if it has one.")
    ] = None,
    user: Annotated[str | None, Field(description="The person to talk with.")] = None,
    project: Annotated[str | None, Field(description="The project it is about.")] = None,
    message: Annotated[str | None, Field(description="What the person said first.")] = None,
) -> str:
    """Who the agent is and what is known of the person and the project, to begin with."""

    def build(api: RestApi) -> str:
        body = {
            "query": message or _OPENING,
            "agent": agent or api.agent,
            "user": user,
            "project": project,
        }
        return str(api.ask("POST", "/prompt", body=body, names={"query": "message"})["prompt"])

    try:
        return await of_api(ctx, build)
    except ResourceError as error:
        raise MCPError(code=INVALID_PARAMS, message=str(error)) from None


async def _document(ctx: Asker, path: str) -> str:
    read = await of_api(ctx, lambda api: api.ask("GET", path))
    return orjson.dumps(read, option=orjson.OPT_INDENT_2).decode()
