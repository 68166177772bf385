"""The nightly import of ChatGPT history, against a real server and worker's code."""

from __future__ import annotations

import json
import random
import zipfile
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest
from django.db import connections
from pytest_django.live_server_helper import LiveServer

from examples.nightly_chatgpt_import import main as nightly_import
from memory.satellites.transfer.imports import UNFINISHED, run_import
from memory.satellites.transfer.models import ImportRun
from memory.satellites.transfer.tests.test_import_formats import CHATGPT, CLAUDE
from memory.understanding.tools import Tools
from teams.models import Message
from teams.tenancy import team_scope
from tests.clients.conftest import Place
from tests.support.cast import make_cast
from tests.support.waiting import until


@pytest.fixture
def place(django_db_setup: None, committed_db: None) -> Iterator[Place]:
    """A team behind a server."""
    live = LiveServer("localhost")
    yield Place(make_cast("nightly"), live.url)
    live.stop()


def work_on(place: Place, tools: Tools) -> Thread:
    """Somebody who does what a worker does, once an import waits."""
    team = place.cast.team

    def waiting() -> list[ImportRun]:
        with team_scope(team_ids=[team.pk], actor="test"):
            return list(ImportRun.objects.filter(state__in=UNFINISHED))

    def work() -> None:
        try:
            until(waiting)
            for run in waiting():
                run_import(team_id=team.pk, run_id=run.pk, tools=tools)
        finally:
            connections.close_all()

    thread = Thread(target=work)
    thread.start()
    return thread


def zipped(file: Path, conversations: str) -> None:
    """The export as it is downloaded, with more pictures than the server would take."""
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("export/conversations-000.json", conversations)
        archive.writestr("picture.png", random.Random(1).randbytes(40 * 2**20))


def test_it_imports_once_and_names_what_is_wrong(
    place: Place,
    tools: Tools,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("PALIMPSEST_URL", place.url)
    monkeypatch.setenv("PALIMPSEST_API_KEY", place.key())
    monkeypatch.setattr(nightly_import, "POLL_SECONDS", 0.05)
    file = tmp_path / "export"
    arguments = [str(file), "--agent", "archive", "--user", "sarah"]
    said = []
    export = json.dumps([CHATGPT])
    for write in (file.write_text, lambda words: zipped(file, words)):
        write(export)
        worker = work_on(place, tools)
        assert nightly_import.main(arguments) == 0
        worker.join()
        said.append(capsys.readouterr().out.strip())
    file.write_text(json.dumps([CLAUDE]))

    assert nightly_import.main(arguments) == 1

    assert said == ["2 messages, 2 new, 0 failed: done", "2 messages, 0 new, 0 failed: done"]
    assert "[0].id: Is missing" in capsys.readouterr().err
    with team_scope(team_ids=[place.cast.team.pk], actor="test"):
        assert Message.objects.count() == 2
