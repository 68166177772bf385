"""Refusals of MCP: as HTTP before a message is read, as a protocol error, or a failed call."""

from __future__ import annotations

import json
import re
from typing import Any
from uuid import UUID, uuid4

import pytest
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer
from rest_framework.test import APIClient

from teams.tenancy import team_scope
from tests.support.cast import Cast, make_cast, switch
from tests.support.mcp_client import MODES, Editor, editor_of, said

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
BERLIN = "Sarah lives in Berlin."


def _post(editor: Editor, body: object = PING, **headers: str) -> Any:
    given = {"Accept": "application/json, text/event-stream", **headers}
    return editor.api().post("/mcp", body, format="json", headers=given)


def _error_of(answer: Any, status: int) -> str:
    """The message of a refusal that has this status."""
    assert answer.status_code == status
    assert answer["Content-Type"] == "application/json"
    error = answer.json()["error"]
    assert error["data"]["status"] == status
    return str(error["message"])


def test_without_a_valid_key_nothing_is_answered(editor: Editor) -> None:
    for client in (APIClient(), Editor(editor.url, "pal_wrong_key").api()):
        refused = client.post("/mcp", PING, format="json")

        assert _error_of(refused, 401)
        assert refused["WWW-Authenticate"].startswith('Bearer realm="palimpsest"')
    with pytest.raises(ExceptionGroup) as failed:
        Editor(editor.url, "pal_wrong_key").call("list_entities")
    assert failed.group_contains(MCPError, match="not valid or was revoked")


@pytest.mark.parametrize("method", ["get", "delete", "put", "options"])
def test_there_are_no_sessions_and_no_streams(editor: Editor, method: str) -> None:
    # As clients ask whether there is a stream; 405 tells them that there is none.
    refused = getattr(editor.api(), method)("/mcp", headers={"Accept": "text/event-stream"})

    assert _error_of(refused, 405)
    assert "POST" in refused["Allow"]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "https://evil.example"}, 403),
        ({"Accept": "text/html"}, 406),
        ({"MCP-Protocol-Version": "1999-01-01"}, 400),
        ({"Origin": "https://editor.example"}, 200),
        ({"MCP-Protocol-Version": "2025-06-18"}, 200),
    ],
)
def test_headers_are_held_to_the_specification(
    editor: Editor, settings: Settings, headers: dict[str, str], status: int
) -> None:
    settings.CSRF_TRUSTED_ORIGINS = ["https://editor.example"]

    assert _post(editor, **headers).status_code == status


@pytest.mark.parametrize(
    "sent",
    [b"{", b"[]", b'"ping"', b"[" * 100_000, b'{"jsonrpc": "2.0", "id": 1}', b"\xff", b""],
)
def test_what_is_no_message_is_refused(editor: Editor, sent: bytes) -> None:
    for version in ("2025-06-18", "2026-07-28"):
        headers = {"Accept": "application/json", "MCP-Protocol-Version": version}
        refused = editor.api().generic(
            "POST",
            "/mcp",
            sent,  # type: ignore[arg-type]  # bytes are sent as they are
            "application/json",
            headers=headers,
        )

        assert refused.status_code == 400
        assert refused.json()["error"]["code"] in (-32700, -32600, -32602)


def test_a_message_may_not_be_too_long(editor: Editor) -> None:
    long = {**PING, "params": {"x": "y" * 5_000_000}}

    assert _post(editor, long).status_code == 413


def test_a_notification_is_taken_without_an_answer(editor: Editor) -> None:
    taken = _post(editor, {"jsonrpc": "2.0", "method": "notifications/initialized"})

    assert taken.status_code == 202


@pytest.mark.parametrize("mode", MODES)
def test_an_unknown_tool_is_an_error_of_the_protocol(editor: Editor, mode: str) -> None:
    with pytest.raises(MCPError) as refused:
        editor.speaking(mode).result("drop_tables")

    assert refused.value.error.code == INVALID_PARAMS
    assert "Unknown tool: drop_tables" in refused.value.error.message
    assert "search_memories" in refused.value.error.message


def test_wrong_arguments_are_named_as_the_tool_calls_them(editor: Editor) -> None:
    assert "memory_id" in editor.refusal("get_memory", memory_id="7")
    assert "no argument metadata" in editor.refusal("add_memory", text="x", metadata={})
    assert "either text or messages" in editor.refusal("add_memory")
    assert "text: " in editor.refusal("add_memory", text=" ", user="sarah")
    assert "user: " in editor.refusal("add_memory", text=BERLIN, user="x" * 300)
    assert "agent: " in editor.refusal(
        "search_memories", query="x", filters={"importance": {"gte": 3}}
    )
    assert "filters" in editor.refusal(
        "search_memories", query="x", agent="kyra", filters={"mood": "good"}
    )
    assert "limit: " in editor.refusal("get_memories", limit=0)
    assert "at: " in editor.refusal("get_memories", at="yesterday")


BROKEN = "a\x00b"
# The arguments that each tool needs.
CALLS: dict[str, dict[str, Any]] = {
    "add_memory": {"text": BERLIN},
    "search_memories": {"query": "Berlin", "agent": "kyra"},
    "get_memories": {},
    "update_memory": {"memory_id": str(UUID(int=1)), "text": BERLIN},
    "delete_memory": {"memory_id": str(UUID(int=1))},
    "list_entities": {},
    "get_context": {"user_request": "Where?", "agent": "kyra"},
    "report_contradictions": {},
    "assemble_context": {"agent": "kyra"},
    "predict": {"file_opened": "a.py", "agent": "kyra"},
    "expand": {"topic": "src", "agent": "kyra"},
    "record_decision": {"decision": "Sessions replace tokens.", "project": "shop"},
    "record_failure": {"signature": "E", "lesson": "Wait.", "project": "shop"},
    "record_convention": {"convention": "Lower case.", "project": "shop"},
    "begin_task": {"task": "T-1", "agent": "kyra"},
    "note_in_task": {"task": "T-1", "text": "Begun.", "agent": "kyra"},
    "get_package": {"task": "T-1", "agent": "kyra"},
}


@pytest.mark.parametrize("tool", sorted(CALLS))
def test_each_wrong_argument_is_named_as_the_tool_calls_it(editor: Editor, tool: str) -> None:
    async def wrong(client: Client) -> dict[str, str]:
        (schema,) = [
            each.input_schema for each in (await client.list_tools()).tools if each.name == tool
        ]
        told = {}
        for name, field in schema["properties"].items():
            if (value := _wrong(json.dumps(field))) is not None:
                answer = await client.call_tool(tool, {**CALLS[tool], name: value})
                assert answer.is_error, (name, said(answer))
                told[name] = said(answer)
        return told

    refusals = editor.run(wrong)

    assert refusals
    begins = r"(Error executing tool \w+: )?(\w+: |There is no such )?"
    assert {
        name: told for name, told in refusals.items() if not re.match(rf"{begins}{name}\b", told)
    } == {}


def _wrong(schema: str) -> Any:
    """A value of the schema's type that no tool takes."""
    if "enum" in schema or "$ref" in schema or "uuid" in schema:
        return None
    return 10**9 if "integer" in schema else [BROKEN] if "array" in schema else BROKEN


def test_a_read_only_key_reads_and_does_not_write(
    editor: Editor, cast: Cast, server: LiveServer
) -> None:
    stored = editor.call("add_memory", text=BERLIN, user="sarah")["memory"]
    reader = editor_of(cast, server.url, is_read_only=True)

    assert reader.call("get_memory", memory_id=stored["id"])["content"] == BERLIN
    asked = {"query": "Where does Sarah live?", "agent": "kyra"}
    assert reader.call("search_memories", **asked, user="sarah")["results"]
    assert reader.call("search_memories", **asked)["results"] == []
    for tool, given in (
        ("add_memory", {"text": "Sarah likes tea."}),
        ("update_memory", {"memory_id": stored["id"], "text": "Sarah lives in Kyiv."}),
        ("delete_memory", {"memory_id": stored["id"]}),
    ):
        assert "read-only" in reader.refusal(tool, **given)
    assert len(editor.call("get_memories")["results"]) == 1


def test_another_teams_memory_is_not_found(editor: Editor, server: LiveServer) -> None:
    strangers = editor_of(make_cast(f"strangers-{uuid4().hex[:8]}"), server.url)
    theirs = strangers.call("add_memory", text=BERLIN, user="sarah")["memory"]["id"]

    for tool, given in (
        ("get_memory", {}),
        ("update_memory", {"text": "Sarah lives in Kyiv."}),
        ("delete_memory", {}),
    ):
        words = editor.refusal(tool, memory_id=theirs, **given)
        assert words == editor.refusal(tool, memory_id=str(uuid4()), **given)
    assert strangers.call("get_memory", memory_id=theirs)["status"] == "active"
    assert editor.call("search_memories", query="Where does Sarah live?")["results"] == []


def test_a_key_of_one_agent_acts_as_no_other(kyras: Editor) -> None:
    assert "acts only as the agent 'kyra'" in kyras.refusal("add_memory", text=BERLIN, agent="luke")
    stored = kyras.call("add_memory", text="I keep notes.", memory_type="agent_private")
    assert stored["memory"]["agent"] == "kyra"


def test_an_idempotency_key_of_the_request_is_that_of_its_write(editor: Editor) -> None:
    said = [{"role": "user", "content": "I moved to Kyiv."}]
    given = {"messages": said, "user": "sarah", "agent": "kyra", "thread_id": "t"}
    once = editor.sending(Idempotency_Key="once")

    first = once.call("add_memory", **given)
    again = once.call("add_memory", **given)

    assert first == again


def test_messages_without_a_thread_are_stored_once_under_a_key(editor: Editor) -> None:
    said = [{"role": "user", "content": "I moved to Kyiv."}]
    once = editor.sending(Idempotency_Key="once")

    first = once.call("add_memory", messages=said, user="sarah", agent="kyra")
    again = once.call("add_memory", messages=said, user="sarah", agent="kyra")

    assert first == again


def test_rates_hold_for_calls_and_for_the_rest(editor: Editor, settings: Settings) -> None:
    # A message is a request of the key, and so is what it asks of the API.
    settings.RATE_LIMIT_KEY = 4
    call = {**PING, "method": "tools/call", "params": {"name": "get_memories", "arguments": {}}}

    assert "result" in _post(editor, call).json()
    assert _post(editor).status_code == 200
    refused = _post(editor, call).json()["result"]

    assert refused["isError"]
    assert "Try again after" in refused["content"][0]["text"]
    used_up = _post(editor)
    assert "requests a minute" in _error_of(used_up, 429)
    assert int(used_up["Retry-After"]) > 0


def test_what_is_wrong_with_many_arguments_is_told_briefly(editor: Editor) -> None:
    told = editor.refusal("add_memory", messages=[1] * 400)

    assert "messages.0" in told
    assert len(told) < 1_000


def test_memory_that_is_switched_off_is_refused(editor: Editor, cast: Cast) -> None:
    with team_scope(team_ids=[cast.team.id], actor="test"):
        switch(cast, memory=False)

    assert "switched off" in editor.refusal("search_memories", query="x", agent="kyra")
