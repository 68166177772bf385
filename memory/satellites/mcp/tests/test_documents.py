"""Resources and prompts, read with the official client over HTTP."""

from __future__ import annotations

import json

import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, TextContent, TextResourceContents

from tests.support.mcp_client import MODES, Editor


@pytest.mark.parametrize("mode", MODES)
def test_a_profile_and_a_document_are_resources(editor: Editor, mode: str) -> None:
    editor = editor.speaking(mode)
    templates = editor.run(lambda client: client.list_resource_templates()).resource_templates

    assert {each.uri_template for each in templates} == {
        "palimpsest://people/{user}/profile",
        "palimpsest://agents/{agent}/document",
    }
    assert _read(editor, "palimpsest://people/sarah/profile")["external_id"] == "sarah"
    assert _read(editor, "palimpsest://agents/kyra/document")["name"] == "Kyra"


def test_names_may_hold_any_sign(editor: Editor) -> None:
    name = "../müller/я?x=1"
    editor.call("add_memory", text="This person likes tea.", user=name)
    uri = "palimpsest://people/..%2Fm%C3%BCller%2F%D1%8F%3Fx%3D1/profile"

    assert _read(editor, uri)["external_id"] == name


def test_what_there_is_not_is_refused_with_its_address(editor: Editor) -> None:
    uri = "palimpsest://people/nobody/profile"

    with pytest.raises(MCPError) as refused:
        _read(editor, uri)

    assert refused.value.error.code == INVALID_PARAMS
    assert refused.value.error.data == {"uri": uri}
    assert "no such user" in refused.value.error.message


@pytest.mark.parametrize("mode", MODES)
def test_a_conversation_starts_with_who_the_agent_is_and_what_is_known(
    editor: Editor, mode: str
) -> None:
    editor = editor.speaking(mode)
    editor.call("add_memory", text="Sarah lives in Berlin.", user="sarah", is_pinned=True)
    (listed,) = editor.run(lambda client: client.list_prompts()).prompts

    given = {"agent": "kyra", "user": "sarah", "message": "Hello Kyra!"}
    told = editor.run(lambda client: client.get_prompt(listed.name, given))

    assert listed.name == "start_of_conversation"
    assert {each.name for each in listed.arguments or ()} == {
        "agent",
        "user",
        "project",
        "message",
    }
    content = told.messages[0].content
    assert isinstance(content, TextContent)
    assert "Kyra" in content.text
    assert "Berlin" in content.text


@pytest.mark.parametrize(
    ("name", "given", "words"),
    [
        ("start_of_conversation", {"agent": "nobody"}, "no agent 'nobody'"),
        ("start_of_conversation", {}, "agent: This argument is required."),
        ("the_end", {}, "Unknown prompt: the_end"),
    ],
)
def test_a_prompt_that_cannot_be_made_says_why(
    editor: Editor, name: str, given: dict[str, str], words: str
) -> None:
    with pytest.raises(MCPError) as refused:
        editor.run(lambda client: client.get_prompt(name, given))

    assert refused.value.error.code == INVALID_PARAMS
    assert words in refused.value.error.message


def _read(editor: Editor, uri: str) -> dict[str, object]:
    (content,) = editor.run(lambda client: client.read_resource(uri)).contents
    assert isinstance(content, TextResourceContents)
    assert content.mime_type == "application/json"
    return dict(json.loads(content.text))
