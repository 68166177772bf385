"""A coding agent's day: imports a repository's history and works through three tasks by MCP."""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx2
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from palimpsest_client import Palimpsest

POLL_SECONDS = 1.0
LOG = ["log", "--no-merges", "--reverse", "--numstat", "--no-color", "--date=iso-strict"]


@dataclass(frozen=True)
class Task:
    """A change that is to be made to a file, and what the day teaches about it."""

    name: str
    file: str
    lesson: tuple[str, dict[str, Any]]


def history_of(repository: str) -> bytes:
    """Return the log of the repository with its files."""
    command = ["git", "-C", repository, "-c", "core.quotePath=false", *LOG]
    return subprocess.run(command, check=True, capture_output=True).stdout


def tasks_of(repository: str) -> list[Task]:
    """Return a task for each of the three files that the latest commits changed."""
    command = ["git", "-C", repository, "log", "-50", "--no-merges", "--name-only", "--format="]
    shown = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    files = list(dict.fromkeys(shown.split("\n")))
    first, second, third = [each for each in files if each.endswith(".py")][:3]
    decision = {"decision": f"{first} keeps its public names until the next release."}
    failure = {
        "signature": "ImportError: cannot import name 'settings'",
        "lesson": f"{second} was imported before the settings were read; import it late.",
    }
    return [
        Task("Make the time-outs configurable", first, ("record_decision", decision)),
        Task("Fix the import at start-up", second, ("record_failure", failure)),
        Task(
            "Add type hints",
            third,
            ("record_convention", {"convention": "Public functions have type hints."}),
        ),
    ]


async def work(tasks: Sequence[Task], *, address: str, key: str, project: str, agent: str) -> None:
    """Work through the tasks: print each context, and record what was learnt."""
    day = uuid4().hex[:8]
    headers = {"Authorization": f"Bearer {key}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http,
        Client(streamable_http_client(f"{address}/mcp", http_client=http)) as client,
    ):

        async def call(tool: str, **arguments: Any) -> dict[str, Any]:
            given = {"agent": agent, "project": project, **arguments}
            result = await client.call_tool(tool, given)
            if result.is_error:
                raise SystemExit(f"{tool}: {result.content}")
            return result.structured_content or {}

        for number, task in enumerate(tasks, start=1):
            print(f"\n=== {task.name} ({task.file})")
            name = f"{day}-{number}"
            await call("begin_task", task=name)
            note = {"task": name, "text": task.name, "agent": agent}
            await client.call_tool("note_in_task", note)
            context = await call("assemble_context", current_file=task.file, query=task.name)
            print(context["context"])
            tool, payload = task.lesson
            # Without an agent it is for all agents of the project.
            kept = await call(tool, files=[task.file], agent=None, **payload)
            print(f"--- {kept['outcome']}: {kept['content']} ({context['token_count']} tokens)")


def main() -> None:
    """Import the history, then work."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repository", help="folder of a git repository with Python files")
    parser.add_argument("--project", help="the folder's name where it is left out")
    parser.add_argument("--agent", default="coder")
    given = parser.parse_args()
    project = given.project or Path(given.repository).resolve().name
    address = os.environ.get("PALIMPSEST_URL", "http://127.0.0.1:8000")
    key = os.environ["PALIMPSEST_API_KEY"]
    with Palimpsest(address, key) as client:
        try:
            log = history_of(given.repository)
        except subprocess.CalledProcessError as error:
            raise SystemExit(error.stderr.decode().strip()) from None
        run = client.imports.start(log, format="git", project=project)
        while run.state in ("queued", "running"):
            time.sleep(POLL_SECONDS)
            run = client.imports.get(run.id)
        print(f"{run.total} commits, {run.new} new: {run.state}")
    names = {"project": project, "agent": given.agent}
    asyncio.run(work(tasks_of(given.repository), address=address, key=key, **names))


if __name__ == "__main__":
    main()
