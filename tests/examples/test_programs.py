"""The examples, started as somebody starts them, against a real server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import palimpsest_client
import pytest

from memory.satellites.chat.tests.conftest import bare, model, once, server, town
from tests.clients.conftest import Place
from tests.support.chat import Town
from tests.support.openai_server import FakeOpenAI, answer

EXAMPLES = Path(__file__).parents[2] / "examples"
CLIENT = Path(palimpsest_client.__file__).parents[1]
__all__ = ["bare", "model", "once", "server", "town"]


def run(town: Town, *words: str, said: str = "") -> subprocess.CompletedProcess[str]:
    """Runs a program with a key of the team."""
    name, *rest = words
    return subprocess.run(
        [sys.executable, EXAMPLES / name / "main.py", *rest],
        input=said,
        env={
            **os.environ,
            "PALIMPSEST_URL": town.url,
            "PALIMPSEST_API_KEY": Place(town.cast, town.url).key(),
            "PYTHONPATH": str(CLIENT),
        },
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_the_chatbot_remembers_in_its_next_session(town: Town, model: FakeOpenAI) -> None:
    town.remember("Sarah drinks her tea without milk.")
    model.will(answer("Noted."), answer("Of course."), answer("Without milk."))

    first = run(town, "chatbot", "--user", "sarah", said="Hello.\nDo you know me?\n")
    second = run(town, "chatbot", "--user", "sarah", said="How does Sarah take her tea?\n")

    assert (first.returncode, second.returncode) == (0, 0), first.stderr + second.stderr
    assert "Noted." in first.stdout
    assert "Without milk.\n  (1 memories were in mind)" in second.stdout
    assert "Sarah drinks her tea without milk." in model.chats[2].text
    # The second question came with the first and its answer.
    assert [each["content"] for each in model.chats[1].body["messages"][-3:]] == [
        "Hello.",
        "Noted.",
        "Do you know me?",
    ]


def test_the_chatbot_tells_a_refusal_and_goes_on(bare: Town) -> None:
    done = run(bare, "chatbot", said="Hello.\n")

    assert done.returncode == 0
    assert "OPENAI_BASE_URL" in done.stderr


def test_the_coding_agent_knows_its_file_and_learns_what_was_of_use(
    town: Town, model: FakeOpenAI
) -> None:
    retries = "The retries of src/api.py are three, as the gateway gives up after four."
    payload = {"decision": retries, "artifacts": [{"kind": "file", "ref": "src/api.py"}]}
    town.remember(retries, agent="coder", project="lantern", form="decision", payload=payload)
    model.will(answer("Read them from the settings."), answer("Keep them."))
    task = ("coding_agent", "--user", "sarah", "--file", "src/api.py", "--useful")

    first = run(town, *task, "Make the retries configurable.", "--decided", "Retries are settings.")
    second = run(town, *task, "Are the retries right?")

    assert (first.returncode, second.returncode) == (0, 0), first.stderr + second.stderr
    assert retries in model.chats[0].text
    assert "Read them from the settings." in first.stdout
    assert "[created] Retries are settings." in first.stdout
    assert f"[likely] {retries}" in second.stdout


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """The example's configuration, with the program as it lies in the sources."""
    said = json.loads((EXAMPLES / "mcp_editor" / "mcp.json").read_text())
    server = said["mcpServers"]["palimpsest"]
    assert server["command"] == "palimpsest-mcp"
    server |= {"command": sys.executable, "args": ["-m", "palimpsest_client.mcp"]}
    server["env"]["PYTHONPATH"] = str(CLIENT)
    path = tmp_path / "mcp.json"
    path.write_text(json.dumps(said))
    return path


def test_the_editor_lists_and_calls_tools(bare: Town, config: Path) -> None:
    by = ("mcp_editor", "--config", str(config))
    told = json.dumps({"text": "Sarah lives in Berlin.", "user": "sarah"})

    listed = run(bare, *by)
    called = run(bare, *by, "add_memory", told)

    assert listed.returncode == 0, listed.stderr
    assert "search_memories: " in listed.stdout
    assert json.loads(called.stdout)["memory"]["outcome"] == "created"
