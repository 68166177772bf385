"""The support desk is killed between its agents and goes on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from palimpsest_client import Palimpsest

from tests.clients.conftest import Place
from tests.clients.conftest import place as place
from tests.clients.conftest import server as server

ROOT = Path(__file__).parents[2]


def desk(place: Place, key: str, *options: str, text: str) -> subprocess.Popen[str]:
    """The program on this ticket."""
    command = [sys.executable, str(ROOT / "examples" / "langgraph_support_desk" / "main.py")]
    named = ["--customer", "sarah", *options, text]
    return subprocess.Popen(
        command + named,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ
        | {
            "PYTHONPATH": str(ROOT / "clients" / "python"),
            "PALIMPSEST_URL": place.url,
            "PALIMPSEST_API_KEY": key,
        },
    )


def test_a_killed_desk_goes_on_without_doing_anything_twice(place: Place) -> None:
    key, said = place.key(), "My kettle leaks, I live in Oslo."
    with desk(place, key, "--ticket", "17", "--pause", "600", text=said) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == "reception: a repair\n"
        with Palimpsest(place.url, key) as client:
            while not any(
                state.metadata["step"] == 1
                for state in client.checkpoints.list(thread_id="ticket-17")
            ):
                assert first.poll() is None
        first.kill()
    assert first.returncode != 0

    with desk(place, key, "--ticket", "17", text=said) as second:
        out, _ = second.communicate()
    with desk(place, key, "--ticket", "18", text="Is the kettle in Oslo mended?") as later:
        answered, _ = later.communicate()

    assert second.returncode == 0
    assert out.splitlines() == [
        "workshop: answered",
        "We take care of your repair.",
        "done: reception, wait, workshop",
    ]
    assert "You told us before: My kettle leaks, I live in Oslo." in answered
    with Palimpsest(place.url, key) as client:
        assert [each.content for each in client.memories.list(user="sarah")] == [
            "said: Is the kettle in Oslo mended?",
            f"said: {said}",
        ]
