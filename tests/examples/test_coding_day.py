"""A coding agent's day, against a real server and worker's code."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from examples.coding_day import main as day
from memory.understanding.tools import Tools
from tests.clients.conftest import Place
from tests.examples.test_nightly_chatgpt_import import place, work_on

__all__ = ["place"]


def test_each_task_has_its_context(
    place: Place,
    tools: Tools,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def git(*words: str) -> None:
        who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
        subprocess.run(["git", "-C", str(tmp_path), *who, *words], check=True, capture_output=True)

    git("init")
    for name in ("client.py", "server.py", "retry.py"):
        (tmp_path / name).write_text("import os\n")
        git("add", ".")
        git("commit", "-m", f"Add {name} for the gateway")
    monkeypatch.setenv("PALIMPSEST_URL", place.url)
    monkeypatch.setenv("PALIMPSEST_API_KEY", place.key())
    monkeypatch.setattr(day, "POLL_SECONDS", 0.05)
    monkeypatch.setattr(sys, "argv", ["main.py", str(tmp_path)])

    said = []
    for _ in range(2):
        worker = work_on(place, tools)
        day.main()
        worker.join()
        said.append(capsys.readouterr().out)

    first, second = said
    assert "3 commits, 3 new: done" in first
    assert "3 commits, 0 new: done" in second
    assert "]: Add retry.py for the gateway" in first
    assert "[DECISION]: retry.py keeps its public names" in second
    assert "[FAILURE]: ImportError" in second
    assert "[CONVENTION]: Public functions have type hints." in second
