"""The place of MCP in a web process: when it loads, and which thread does the work."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from typing import Any

import pytest
from django.test import RequestFactory

from memory.clients.afterwards import Gathered
from memory.satellites.mcp.rest import RefusedError, RestApi
from memory.satellites.mcp.server import answer_message
from tests.support.mcp_client import MODES

_ADDRESSES = """
import sys
import django
django.setup()
from django.urls import resolve
resolve("/mcp")
print("mcp" in sys.modules)
"""


class _Empty(RestApi):
    """An API of a team without memories; `threads` are those that asked it."""

    def ask(self, *given: Any, **options: Any) -> dict[str, Any]:
        self.threads = [*getattr(self, "threads", ()), threading.get_ident()]
        return {"results": [], "next": None}


def test_the_sdk_is_loaded_by_the_first_message_and_not_at_the_start() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _ADDRESSES], capture_output=True, text=True, check=True
    )

    assert done.stdout.split() == ["False"]


@pytest.mark.parametrize("version", ["2025-06-18", MODES[1]])
def test_the_thread_of_the_request_asks_the_api_for_it(version: str) -> None:
    meta = {
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    call = {"name": "get_memories", "arguments": {}, "_meta": meta}
    request = RequestFactory().post(
        "/mcp",
        json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}),
        content_type="application/json",
        headers={
            "Accept": "application/json",
            "MCP-Protocol-Version": version,
            "Mcp-Method": "tools/call",
            "Mcp-Name": "get_memories",
        },
    )
    api = _Empty(request=request, agent="", left=Gathered(), seconds=60)

    answer = answer_message(request, api)

    assert json.loads(answer.content)["result"]["structuredContent"]["results"] == []
    assert api.threads == [threading.get_ident()]


def test_a_message_whose_time_is_up_asks_no_more() -> None:
    request = RequestFactory().post("/mcp")
    api = RestApi(request=request, agent="", left=Gathered(), seconds=-1)

    with pytest.raises(RefusedError, match="takes too long") as refused:
        api.ask("GET", "/agents")

    assert refused.value.status == 503
