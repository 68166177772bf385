"""The chat endpoint with clients that are no part of the tests' environment, run by hand.

    python -m venv /tmp/others && /tmp/others/bin/pip install langchain-openai litellm mcp
    (mkdir /tmp/node && cd /tmp/node && npm install ai @ai-sdk/openai-compatible zod)
    OTHER_PYTHON=/tmp/others/bin/python OTHER_NODE=/tmp/node \
        python -m pytest memory/satellites/chat/tests/by_hand/other_clients.py

Each talks, streams, lets a tool be called, resends the whole talk each time, and is refused.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.support.chat import Town
from tests.support.openai_server import Behaviour, FakeOpenAI, answer, tool_call

HERE = Path(__file__).parent
CLIENTS = {
    "langchain": (
        "langchain_chat.py",
        [
            "langchain_openai.OpenAIAuthenticationError",
            "langchain_openai.OpenAIModelNotFoundError",
            "openai.UnprocessableEntityError",
        ],
    ),
    "litellm": (
        "litellm_chat.py",
        ["litellm.AuthenticationError", "litellm.NotFoundError", "litellm.BadRequestError"],
    ),
    "vercel": ("vercel_chat.mjs", ["ai.AI_APICallError"] * 3),
}


@pytest.mark.parametrize("name", CLIENTS)
def test_a_client_talks_streams_calls_a_tool_and_is_refused(
    town: Town, model: FakeOpenAI, name: str
) -> None:
    script, refusals = CLIENTS[name]
    is_python = script.endswith(".py")
    folder = os.environ.get("OTHER_NODE", "")
    program = os.environ["OTHER_PYTHON"] if is_python else "node"
    model.will(
        answer("Hello Sarah."),
        answer("Once upon a time."),
        Behaviour(tool_calls=[tool_call("weather", {"city": "Oslo"})]),
        answer("Take an umbrella."),
    )
    client = town.client()

    done = subprocess.run(
        [program, HERE / script],
        env={
            **os.environ,
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            "URL": str(client.base_url).rstrip("/"),
            "KEY": client.api_key,
        },
        cwd=None if is_python else folder,
        capture_output=True,
        text=True,
        timeout=120,
    )

    assert done.returncode == 0, done.stderr
    came = json.loads(done.stdout.splitlines()[-1])
    print(name, json.dumps(came, indent=1))
    assert came["hello"] == "Hello Sarah."
    assert came["story"] == "Once upon a time."
    assert came["pieces"] > 2
    assert came["call"] == ["weather", {"city": "Oslo"}]
    assert came["answer"] == "Take an umbrella."
    assert came["tokens"] > 0
    assert [came[f"wrong_{what}"][0] for what in ("key", "model", "field")] == refusals
    assert town.said("t") == [
        ("user", "Hello."),
        ("assistant", "Hello Sarah."),
        ("user", "Tell me a story."),
        ("assistant", "Once upon a time."),
        ("user", "Will it rain in Oslo?"),
        ("assistant", '[calls weather {"city": "Oslo"}]'),
        ("tool", "It rains in Oslo."),
        ("assistant", "Take an umbrella."),
    ]
    assert model.chats[3].body["messages"][-1]["role"] == "tool"
