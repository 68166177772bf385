"""`palimpsest-mcp`: what `/mcp` offers, over the pipes of a program."""

from __future__ import annotations

import subprocess
import sys

import pytest
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS

from tests.support.cast import Cast
from tests.support.mcp_client import MODES, Editor, StdioEditor, said, stdio_program

PROFILE = "palimpsest://people/sarah/profile"


@pytest.mark.parametrize("mode", MODES)
def test_the_program_offers_and_does_what_the_server_does(editor: Editor, mode: str) -> None:
    over_http = editor.speaking(mode)
    program = StdioEditor(editor.url, editor.token, mode)

    async def offered(client: Client) -> list[object]:
        lists = [
            (await client.list_tools()).tools,
            (await client.list_prompts()).prompts,
            (await client.list_resources()).resources,
            (await client.list_resource_templates()).resource_templates,
        ]
        return [client.instructions, *lists]

    async def use(client: Client) -> None:
        assert await offered(client) == over_http_offers
        stored = await client.call_tool(
            "add_memory", {"text": "Sarah lives in Berlin.", "user": "sarah"}
        )
        assert stored.structured_content is not None
        assert stored.structured_content["memory"]["outcome"] == "created"
        asked = {"query": "Where does Sarah live?", "user": "sarah", "agent": "kyra"}
        found = await client.call_tool("search_memories", asked)
        assert "Sarah lives in Berlin." in said(found)
        refused = await client.call_tool("get_memories", {"limit": 0})
        assert refused.is_error
        assert "limit" in said(refused)
        (profile,) = (await client.read_resource(PROFILE)).contents
        assert '"external_id": "sarah"' in profile.model_dump_json().replace("\\", "")
        opening = await client.get_prompt("start_of_conversation", {"agent": "kyra"})
        assert opening.messages
        for act in (
            client.call_tool("drop_tables", {}),
            client.read_resource("palimpsest://people/nobody/profile"),
        ):
            with pytest.raises(MCPError) as unknown:
                await act
            assert unknown.value.error.code == INVALID_PARAMS

    over_http_offers = over_http.run(offered)
    program.run(use)

    assert [each["content"] for each in editor.call("get_memories")["results"]] == [
        "Sarah lives in Berlin."
    ]


def test_a_server_that_is_away_or_refuses_the_key_is_an_error_of_each_message(
    editor: Editor, cast: Cast
) -> None:
    async def ask_twice(client: Client) -> list[str]:
        told = []
        for act in (client.list_tools, client.list_prompts):
            with pytest.raises(MCPError) as failed:
                await act()
            told.append(failed.value.error.message)
        return told

    away = StdioEditor("http://127.0.0.1:1/mcp", editor.token).run(ask_twice)
    wrong = StdioEditor(editor.url, "pal_wrong").run(ask_twice)
    elsewhere = StdioEditor(editor.url.replace("/mcp", "/nowhere/mcp"), editor.token).run(ask_twice)

    assert all("was not reached at http://127.0.0.1:1/mcp" in each for each in away)
    assert all("not valid or was revoked" in each for each in wrong)
    assert all("Not Found" in each for each in elsewhere)


def test_without_a_key_the_program_says_what_it_needs() -> None:
    program = stdio_program("http://127.0.0.1:1", "")

    done = subprocess.run(
        [sys.executable, *program.args], env=program.env, capture_output=True, text=True
    )

    assert done.returncode == 2
    assert "PALIMPSEST_API_KEY" in done.stderr
    assert done.stdout == ""
