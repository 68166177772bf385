"""The examples in the documents run, against one server for all of them."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from pytest_django.live_server_helper import LiveServer

from config.embedded import PROJECT_ROOT
from teams.services.keys import issue_key
from teams.tenancy import team_scope
from tests.support.cast import make_cast
from tests.support.chat_models import make_models
from tests.support.command_server import CommandServer
from tests.support.doc_examples import SHOWN, examples, pages, run_page
from tests.support.openai_server import FakeOpenAI

PAGES = [page for page in pages() if any(each.is_run for each in examples(page))]
# Each with its reason. Before you raise it, look whether yours could not be made to run.
MOST_NOT_RUN = 18
_INSTALLED = re.compile(r"\bpip install\W+(palimpsest[\w-]*)")
_EXTRAS = re.compile(r"pip install '\./clients/python\[(\w+)\]'")


@pytest.fixture(scope="module")
def server(django_db_setup: None) -> Iterator[LiveServer]:
    """The application on a port of its own, over committed rows."""
    live = LiveServer("localhost")
    yield live
    live.stop()


@pytest.fixture(scope="module")
def commands() -> Iterator[CommandServer]:
    """A server that runs commands of manage.py."""
    with CommandServer() as commands:
        yield commands


@pytest.fixture(scope="module")
def models() -> Iterator[FakeOpenAI]:
    """A fake model server that answers for agents."""
    with FakeOpenAI() as models:
        yield models


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(PROJECT_ROOT)))
def test_the_examples_of_a_page_run(
    page: Path,
    server: LiveServer,
    commands: CommandServer,
    models: FakeOpenAI,
    committed_db: None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)  # where commands look for their files
    cast = make_cast(f"docs-{uuid4().hex[:8]}")
    with team_scope(team_ids=[cast.team.id], actor="test"):
        key = issue_key(team_id=cast.team.id).token
        make_models(cast, models)

    run_page(page, url=server.url, commands=commands, key=key, team=cast.team.slug, folder=tmp_path)


def test_every_example_is_run_or_says_why_not() -> None:
    every = [each for page in pages() for each in examples(page)]

    strange = {
        each.place: each.language
        for each in every
        if not each.is_program and each.language not in SHOWN
    }
    assert strange == {}, "is it shell (sh), Python (python), or text?"
    not_run = {
        each.place: each.attributes["no-run"] for each in every if "no-run" in each.attributes
    }
    assert all(len(reason.split()) > 2 for reason in not_run.values()), not_run
    assert len(not_run) <= MOST_NOT_RUN, "\n".join(f"{at}: {why}" for at, why in not_run.items())


def test_a_failing_example_is_found(
    server: LiveServer, commands: CommandServer, committed_db: None, tmp_path: Path
) -> None:
    wrong = ('curl "$API/memories"', "say $API/memories -d '{}'", "false | cat", "raise 1")
    for block in (*wrong, ".venv/bin/python manage.py issue_key"):
        language = "python" if block.startswith("raise") else "sh"
        written = tmp_path / "page.md"
        written.write_text(f"```{language}\n{block}\n```\n")
        with pytest.raises(AssertionError):
            run_page(
                written, url=server.url, commands=commands, key="wrong", team="no", folder=tmp_path
            )


def test_packages_and_their_extras_are_called_by_their_names() -> None:
    programs = PROJECT_ROOT / "examples"
    texts = [
        *pages(),
        *programs.rglob("*.md"),
        *programs.rglob("*.py"),
        PROJECT_ROOT / "CHANGELOG.md",
    ]

    named = {name for each in texts for name in _INSTALLED.findall(each.read_text())}
    assert named == {"palimpsest-server", "palimpsest-client"}
    told = {extra for each in texts for extra in _EXTRAS.findall(each.read_text())}
    known = tomllib.loads((PROJECT_ROOT / "clients/python/pyproject.toml").read_text())
    assert told == set(known["project"]["optional-dependencies"])
