"""Importing a transcript: once or twice, whole or interrupted, it ends the same."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from memory.models import Job, Memory
from memory.understanding.tools import Tools
from teams.models import Conversation, Message, Team
from teams.services.people import team_id_of_slug
from teams.tenancy import team_scope
from tests import factories
from tests.support.cast import Cast
from tests.support.importing import SESSIONS, run

TALK = {
    "started_at": "2026-02-09T09:00:00Z",
    "messages": [
        {"role": "user", "content": "Please remember that I prefer oat milk in my coffee."},
        {"role": "assistant", "content": "Noted."},
        {"role": "user", "content": "We decided to launch the ferry line on May 4."},
    ],
}


def contents() -> list[str]:
    return sorted(Memory.objects.values_list("content", flat=True))


def test_messages_are_kept_to_the_letter_with_their_times_and_then_extracted(
    acme: Cast, tools: Tools
) -> None:
    summary = run(acme, tools, TALK)

    rows = list(Message.objects.order_by("position"))
    assert [row.content for row in rows] == [each["content"] for each in TALK["messages"]]  # type: ignore[index]
    assert rows[0].created_at == datetime(2026, 2, 9, 9, 0, tzinfo=UTC)
    assert rows[0].conversation.created_at == rows[0].created_at
    assert (summary.conversations, summary.messages, summary.new_messages) == (1, 3, 3)
    assert any("oat milk" in text for text in contents())
    assert summary.new_memories == Memory.objects.count()


def test_a_second_import_stores_nothing_twice(acme: Cast, tools: Tools) -> None:
    run(acme, tools, TALK)
    stored = contents(), Message.objects.count(), Conversation.objects.count()

    again = run(acme, tools, TALK)

    assert (again.new_messages, again.new_memories) == (0, 0)
    assert (contents(), Message.objects.count(), Conversation.objects.count()) == stored


def test_without_extraction_the_messages_wait_and_no_job_is_queued(
    acme: Cast, tools: Tools
) -> None:
    many = [{"role": "user", "content": f"I like tea number {n}."} for n in range(45)]

    summary = run(acme, tools, many, extract=False)

    assert summary.new_messages == 45
    assert not Job.objects.exists()
    assert not Memory.objects.exists()


def test_what_was_only_kept_is_extracted_by_a_later_import(acme: Cast, tools: Tools) -> None:
    run(acme, tools, TALK, extract=False)

    summary = run(acme, tools, TALK)

    assert summary.new_messages == 0
    assert any("oat milk" in text for text in contents())


def test_a_file_that_grew_adds_only_what_is_new(acme: Cast, tools: Tools) -> None:
    run(acme, tools, TALK)
    longer = {**TALK, "messages": [*TALK["messages"], {"role": "user", "content": "Bye."}]}

    assert run(acme, tools, longer).new_messages == 1


def test_an_interrupted_import_stops_between_conversations_and_continues(
    acme: Cast, tools: Tools
) -> None:
    done: list[int] = []
    first = run(acme, tools, SESSIONS, on_progress=done.append, should_stop=lambda: bool(done))

    second = run(acme, tools, SESSIONS)

    assert (first.conversations, first.new_messages) == (1, 2)
    assert (second.conversations, second.new_messages) == (2, 1)
    assert Message.objects.count() == 3


def test_more_messages_than_a_request_takes_are_stored_in_order(
    acme: Cast, tools: Tools, settings: Any
) -> None:
    # Any: pytest-django's settings wrapper
    settings.MAX_ITEMS_PER_REQUEST = 7
    many = [{"role": "assistant", "content": f"Line {n}."} for n in range(30)]

    run(acme, tools, many)

    said = Message.objects.order_by("position").values_list("content", flat=True)
    assert list(said) == [f"Line {n}." for n in range(30)]


def test_the_extraction_of_a_killed_process_is_taken_over(
    acme: Cast, tools: Tools, settings: Any
) -> None:
    # Any: pytest-django's settings wrapper
    settings.EXTRACT_WAIT_SECONDS = 0.0
    run(acme, tools, TALK, extract=False)
    conversation = Conversation.objects.get()
    factories.JobFactory.create(
        team_id=acme.team.id,
        conversation=conversation,
        from_position=1,
        to_position=3,
        state=Job.State.RUNNING,
    )
    Conversation.objects.update(extracted_position=3)

    run(acme, tools, TALK)

    assert any("oat milk" in text for text in contents())


# -- the command ---------------------------------------------------------------------------


def command(path: Path, *extra: str) -> str:
    out = StringIO()
    names = ["--team", "harbour", "--create-team", "--agent", "kyra", "--user", "sarah"]
    call_command("import_conversation", str(path), *names, *extra, stdout=out, stderr=StringIO())
    return out.getvalue()


def write(folder: Path, data: object) -> Path:
    path = folder / "boat.json"
    path.write_text(json.dumps(data))
    return path


@pytest.mark.django_db
def test_the_command_says_what_it_did_in_one_line(tmp_path: Path) -> None:
    said = command(write(tmp_path, SESSIONS), "--project", "ferry", "--no-extract")

    assert said.startswith("2 conversations, 3 messages (3 new), 0 new memories, ")
    team_id = team_id_of_slug("harbour")
    assert team_id is not None
    with team_scope(team_ids=[team_id], actor="test"):
        row = Conversation.objects.select_related("project").get(thread_id="boat-session-1")
        assert row.project is not None
        assert row.project.slug == "ferry"


@pytest.mark.django_db
def test_a_mistyped_team_is_not_created(tmp_path: Path, acme: Cast) -> None:
    typo = f"{acme.team.slug}e"
    path = write(tmp_path, SESSIONS)

    with pytest.raises(CommandError) as refused:
        call_command("import_conversation", str(path), f"--team={typo}", "--agent=a", "--user=u")

    told = str(refused.value)
    assert all(part in told for part in (f"no team '{typo}'", f"'{acme.team.slug}'"))
    assert "--create-team" in told
    assert team_id_of_slug(typo) is None
    assert not Message.objects.exists()


@pytest.mark.django_db
def test_a_team_that_exists_is_imported_into_without_more_ado(tmp_path: Path, acme: Cast) -> None:
    out = StringIO()
    path = write(tmp_path, SESSIONS)
    names = [f"--team={acme.team.slug}", "--agent=kyra", "--user=sarah", "--no-extract"]

    call_command("import_conversation", str(path), *names, stdout=out, stderr=StringIO())

    assert "3 messages (3 new)" in out.getvalue()
    assert Message.objects.filter(team=acme.team).count() == 3


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"{", "Is not JSON"),
        (b"\xff\xfe{}", "Is not UTF-8"),
        (b"[" * 100_000, "Is not JSON"),
        (b"[]", "Holds no messages"),
        (b'[{"role": "user", "content": "ok"}, {"role": "user"}]', r"\[1\]\.content: Is missing"),
    ],
)
def test_a_bad_file_is_one_line_that_names_it_and_nothing_is_stored(
    tmp_path: Path, content: bytes, complaint: str
) -> None:
    path = tmp_path / "broken.json"
    path.write_bytes(content)

    with pytest.raises(CommandError, match=complaint) as refused:
        command(path)

    assert str(refused.value).startswith(f"{path}: ")
    assert "\n" not in str(refused.value)
    assert team_id_of_slug("harbour") is None


@pytest.mark.django_db
def test_a_file_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="No such file"):
        command(tmp_path / "nothing.json")


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("option", "value"),
    [("--team", "no slug"), ("--agent", " "), ("--user", "x" * 201), ("--project", "a\nb")],
)
def test_names_that_the_api_would_refuse_are_refused(
    tmp_path: Path, option: str, value: str
) -> None:
    with pytest.raises(CommandError, match=f"^{option} must be"):
        command(write(tmp_path, TALK), option, value)

    assert not Team.objects.filter(slug="harbour").exists()


class InterruptOnce:
    """Presses Ctrl-C when the first conversation has just been begun."""

    def __init__(self) -> None:
        self.pressed = False

    def __call__(self, execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
        # Any: what Django hands to a wrapper of statements
        if 'INSERT INTO "teams_conversation"' in sql and not self.pressed:
            self.pressed = True
            os.kill(os.getpid(), signal.SIGINT)
        return execute(sql, *rest)


@pytest.mark.django_db
def test_ctrl_c_finishes_the_conversation_under_way_and_says_how_to_continue(
    tmp_path: Path,
) -> None:
    path = write(tmp_path, SESSIONS)
    before = signal.getsignal(signal.SIGINT)

    with (
        connection.execute_wrapper(InterruptOnce()),
        pytest.raises(CommandError, match="after 1 of 2 conversations; run the same") as stopped,
    ):
        command(path)

    assert stopped.value.returncode == 130
    assert signal.getsignal(signal.SIGINT) is before
    assert "3 messages (1 new)" in command(path)
