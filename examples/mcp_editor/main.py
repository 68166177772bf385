"""Does what an editor does with `mcp.json`: starts the server, lists its tools and calls one."""

from __future__ import annotations

import argparse
import json
import os
import re
from pathlib import Path

import anyio
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.shared.exceptions import MCPError
from mcp_types import TextContent


def main() -> None:
    """List the tools, or call the one that is named; ends with 1 where that fails."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tool", nargs="?", help="the tool to call; without one all are listed")
    parser.add_argument("arguments", nargs="?", type=json.loads, default={}, help="its JSON")
    parser.add_argument("--config", type=Path, default=Path(__file__).with_name("mcp.json"))
    given = parser.parse_args()
    failed = anyio.run(_speak, _program(given.config), given.tool, given.arguments)
    if failed:
        raise SystemExit(failed)


def _program(config: Path) -> StdioServerParameters:
    """The program that the file names, with the environment's values in their places."""
    said = json.loads(config.read_text())["mcpServers"]["palimpsest"]
    environment = {
        name: re.sub(r"\$\{env:(\w+)\}", lambda found: os.environ[found[1]], value)
        for name, value in said["env"].items()
    }
    return StdioServerParameters(
        command=said["command"], args=said.get("args", []), env=environment
    )


async def _speak(
    program: StdioServerParameters, tool: str | None, arguments: dict[str, object]
) -> str:
    """Print what comes; what failed, if anything did."""
    async with Client(program) as client:
        try:
            if tool is None:
                for each in (await client.list_tools()).tools:
                    print(f"{each.name}: {(each.description or '').splitlines()[0]}")
                return ""
            result = await client.call_tool(tool, arguments)
        except MCPError as error:
            return str(error)
        text = "\n".join(each.text for each in result.content if isinstance(each, TextContent))
        if result.is_error:
            return text
        print(text)
    return ""


if __name__ == "__main__":
    main()
