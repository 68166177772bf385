"""Imports from the request to the memories: progress, repetition, interruption, refusals."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone
from rest_framework.test import APIClient

from memory.models import Job, Memory
from memory.satellites.transfer import imports
from memory.satellites.transfer.imports import overdue_imports, run_import
from memory.satellites.transfer.models import ImportBatch, ImportRun
from memory.satellites.transfer.tests.test_import_formats import CHATGPT, CLAUDE, LETTA, MEM0, NOTE
from memory.understanding.tools import Tools
from memory.writing.stating import remember, source_of_message
from teams.models import Agent, EndUser, Message
from tests.support.cast import Cast, Clients

NAMES = {"agent": "kyra", "user": "sarah"}


def send(api: APIClient, content: object, **given: str) -> Any:  # Any: a test client's response
    body = content if isinstance(content, str) else json.dumps(content)
    query = "&".join(f"{name}={value}" for name, value in {**NAMES, **given}.items() if value)
    return api.post(f"/v1/imports?{query}", body.encode(), content_type="application/octet-stream")


def finish(run: Any, tools: Tools, **options: Any) -> ImportRun:
    """The import when it has been gone on with."""
    row = ImportRun.objects.get(pk=UUID(run["id"]))
    run_import(team_id=row.team_id, run_id=row.pk, tools=tools, **options)
    row.refresh_from_db()
    return row


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imports, "MESSAGES_A_BATCH", 2)


def test_conversations_are_kept_verbatim_and_extracted(
    api: APIClient, acme: Cast, tools: Tools
) -> None:
    answer = send(api, [CHATGPT])

    assert answer.status_code == 202, answer.content
    assert (answer.json()["state"], answer.json()["total"]) == ("queued", 2)
    assert answer.json()["format"] == "chatgpt"
    run = finish(answer.json(), tools)
    assert (run.state, run.done, run.new, run.failed) == ("done", 2, 2, 0)
    rows = list(Message.objects.order_by("position").select_related("conversation"))
    assert [(row.role, row.content) for row in rows] == [
        ("user", "I bought a boat."),
        ("assistant", "How nice."),
    ]
    assert rows[0].created_at.isoformat() == "2026-02-02T02:40:00.500000+00:00"
    assert rows[0].conversation.thread_id == "conv-1"
    job = Job.objects.get()
    assert (job.state, job.to_position, job.is_capped) == ("queued", 2, False)
    assert not ImportBatch.objects.exists()
    shown = api.get(f"/v1/imports/{run.pk}").json()
    assert (shown["done"], shown["state"]) == (2, "done")
    assert api.get("/v1/imports", {"state": "done"}).json()["results"] == [shown]


def test_people_whom_a_file_makes_get_the_role_that_is_given(
    api: APIClient, acme: Cast, tools: Tools
) -> None:
    lines = [{"content": f"{name} sails.", "user": name} for name in ("sarah", "ada", "bo")]
    content = "\n".join(map(json.dumps, lines))

    finish(send(api, content, user="", agent="", role="member").json(), tools)

    roles = EndUser.objects.filter(external_id__in=("sarah", "ada", "bo"))
    assert dict(roles.values_list("external_id", "role")) == {
        "sarah": "",
        "ada": "member",
        "bo": "member",
    }
    assert send(api, content, role="colleague").status_code == 422


def test_a_message_may_be_a_tools_or_a_pages(api: APIClient, acme: Cast, tools: Tools) -> None:
    lines = [
        {"role": "tool", "content": "Two hits."},
        {"role": "user", "content": "The page says so.", "source": "web"},
        {"role": "user", "content": "I say so.", "source": "person"},
    ]

    finish(send(api, "\n".join(map(json.dumps, lines))).json(), tools)

    rows = Message.objects.order_by("position")
    assert [source_of_message(each).value for each in rows] == ["tool", "web", "person"]


def test_without_extraction_nothing_is_learned_later_either(
    api: APIClient, acme: Cast, tools: Tools
) -> None:
    finish(send(api, [CHATGPT], extract="false").json(), tools)

    assert [job.state for job in Job.objects.all()] == ["done"]


@pytest.mark.parametrize(
    "content",
    [[CHATGPT], [CLAUDE], [MEM0], LETTA, NOTE],
    ids=["chatgpt", "claude", "mem0", "letta", "markdown"],
)
def test_the_same_file_again_changes_nothing(
    api: APIClient, acme: Cast, tools: Tools, content: object
) -> None:
    first = finish(send(api, content).json(), tools)
    stored = (Message.objects.count(), Memory.objects.count())

    again = finish(send(api, content).json(), tools)

    assert (first.new, first.failed) == (first.total, 0)
    assert (again.state, again.done, again.new, again.failed) == ("done", first.total, 0, 0)
    assert (Message.objects.count(), Memory.objects.count()) == stored


def test_letta_files_of_one_agent_add_to_each_other(
    api: APIClient, acme: Cast, tools: Tools
) -> None:
    finish(send(api, LETTA).json(), tools)
    said = [{"id": "message-1", "role": "user", "content": "Ahoy."}] * 2
    block = {"id": "block-0", "label": "human", "value": "Chad sold the boat."}
    for name in ("Sam", "Support"):
        agent = {**LETTA["agents"][0], "name": name, "messages": said}

        run = finish(send(api, {"agents": [agent], "blocks": [block]}).json(), tools)

        assert (run.failed, run.errors) == (0, [])

    by_thread = Message.objects.order_by("conversation__thread_id", "position")
    assert list(by_thread.values_list("conversation__thread_id", "content")) == [
        ("letta:Sam", "Hello Sam."),
        ("letta:Sam", "Hello."),
        ("letta:Sam", "Ahoy."),
        ("letta:Sam", "Ahoy."),
        ("letta:Support", "Ahoy."),
        ("letta:Support", "Ahoy."),
    ]


def test_memories_pass_the_write_path(api: APIClient, acme: Cast, tools: Tools) -> None:
    finish(send(api, [MEM0]).json(), tools)

    memory = Memory.objects.get()
    assert memory.content == "Likes oat milk."
    assert (memory.external_id or "").startswith("mem0:8f:")
    assert memory.end_user is not None
    assert memory.end_user.external_id == "dmitri"
    assert memory.created_at.isoformat() == "2026-01-05T16:00:00+00:00"
    assert set(memory.tags) == {"food", 'source="chat"', 'nested={"a":1}'}


@pytest.mark.usefixtures("small_batches")
def test_an_import_that_is_killed_goes_on_where_it_was(
    api: APIClient, acme: Cast, tools: Tools
) -> None:
    talks = [{**CHATGPT, "conversation_id": f"conv-{number}"} for number in range(3)]
    answer = send(api, talks).json()
    row = ImportRun.objects.get()

    class KilledError(BaseException):
        pass

    def kill(_: int) -> None:
        raise KilledError

    with pytest.raises(KilledError):
        finish(answer, tools, on_progress=kill)
    row.refresh_from_db()
    assert (row.state, row.done, ImportBatch.objects.count()) == ("running", 2, 2)

    assert overdue_imports(team_id=row.team_id, now=timezone.now()) == [row]
    run = finish(answer, tools)

    assert (run.state, run.done, run.new) == ("done", 6, 6)
    assert Message.objects.count() == 6


@pytest.mark.usefixtures("small_batches")
def test_a_slice_of_time_leaves_the_rest_to_the_next(
    api: APIClient, acme: Cast, tools: Tools
) -> None:
    answer = send(api, [CHATGPT, {**CHATGPT, "conversation_id": "conv-2"}]).json()

    assert finish(answer, tools, seconds=0).state == "queued"
    assert finish(answer, tools, seconds=0).done == 4
    assert finish(answer, tools).state == "done"


@pytest.mark.usefixtures("small_batches")
def test_a_cancelled_import_keeps_what_it_wrote(api: APIClient, acme: Cast, tools: Tools) -> None:
    answer = send(api, [CHATGPT, {**CHATGPT, "conversation_id": "conv-2"}]).json()
    finish(answer, tools, seconds=0)

    cancelled = api.delete(f"/v1/imports/{answer['id']}")

    assert (cancelled.status_code, cancelled.json()["state"]) == (200, "cancelled")
    assert not ImportBatch.objects.exists()
    assert finish(answer, tools).done == 2
    assert Message.objects.count() == 2
    assert api.delete(f"/v1/imports/{answer['id']}").status_code == 409


def test_what_is_written_is_counted_although_it_was_cancelled_meanwhile(
    api: APIClient, acme: Cast, tools: Tools, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = send(api, [MEM0]).json()

    def cancelled_then(**given: Any) -> Any:  # Any: the arguments of `remember`
        written = remember(**given)
        assert api.delete(f"/v1/imports/{answer['id']}").status_code == 200
        return written

    monkeypatch.setattr(imports, "remember", cancelled_then)

    run = finish(answer, tools)

    assert (run.state, run.done, run.new, Memory.objects.count()) == ("cancelled", 1, 1, 1)


@pytest.mark.parametrize(
    ("content", "name", "format_"),
    [
        (json.dumps({"role": "user", "content": "word " * 20_000}) + "\n{}", "x", "jsonl"),
        (f"Role,Content\nuser,{'word ' * 30_000}\n", "x", "csv"),
        ("[[Home]] is where the oven stands.", "home.md", "markdown"),
        ("{{a template}} stands here.", "home.MD", "markdown"),
    ],
    ids=["a long first line", "a long cell", "a note that begins with a link", "with a template"],
)
def test_the_format_is_found_by_what_the_file_is(
    content: str, name: str, format_: str, api: APIClient, acme: Cast
) -> None:
    answer = send(api, content.removesuffix("\n{}"), name=name)

    assert (answer.status_code, answer.json().get("format")) == (202, format_), answer.content


def test_the_line_of_a_text_that_is_no_unicode_is_named(api: APIClient, acme: Cast) -> None:
    refused = send(api, '{"content": "Fine is fine."}\n' + r'{"content": "bad \ud800 one"}')

    assert refused.json()["detail"] == "line 2: Must be valid Unicode text."


def test_a_broken_file_imports_nothing(api: APIClient, acme: Cast) -> None:
    answer = send(api, [MEM0, {**MEM0, "id": "9", "memory": ""}])

    assert answer.status_code == 422
    assert "[1]" in answer.json()["detail"]
    assert not ImportRun.objects.exists()
    assert not ImportBatch.objects.exists()
    unknown = send(api, "Just words.")
    assert unknown.status_code == 422
    assert "chatgpt, claude, mem0, letta" in unknown.json()["detail"]
    assert send(api, "[]", format="mem0").status_code == 422
    assert send(api, [MEM0], format="word").status_code == 422


def test_an_item_that_is_refused_is_named_and_the_others_are_written(
    api: APIClient, acme: Cast, tools: Tools
) -> None:
    lines = [
        {"content": "Likes tea.", "external_id": "one", "user": "dmitri"},
        {"content": "Likes tea.", "external_id": "one", "user": "sarah"},
        {"content": "Sails on Sundays.", "external_id": "two", "user": "sarah"},
    ]

    run = finish(send(api, "\n".join(map(json.dumps, lines))).json(), tools)

    assert (run.state, run.done, run.new, run.failed) == ("done", 2, 2, 1)
    assert [error["place"] for error in run.errors] == ["line 2"]
    assert "somebody else" in run.errors[0]["problem"]


def test_what_was_changed_at_its_source_is_a_new_statement(
    api: APIClient, acme: Cast, tools: Tools
) -> None:
    finish(send(api, [MEM0]).json(), tools)

    run = finish(send(api, [{**MEM0, "memory": "Likes soy milk."}]).json(), tools)

    assert (run.new, run.failed) == (1, 0)


def test_a_message_of_another_text_is_named(api: APIClient, acme: Cast, tools: Tools) -> None:
    finish(send(api, [CLAUDE]).json(), tools)
    other = json.loads(json.dumps(CLAUDE).replace("Done.", "Not done."))

    run = finish(send(api, [other]).json(), tools)

    assert [error["place"] for error in run.errors] == ["[0].chat_messages[1]"]
    assert set(Message.objects.values_list("content", flat=True)) == {
        "Read this.\nThe mast is up.",
        "Done.",
    }


def test_what_waits_of_an_erased_person_is_not_imported(
    api: APIClient, acme: Cast, tools: Tools
) -> None:
    answer = send(api, [MEM0, {**MEM0, "id": "9", "user_id": "sarah"}]).json()
    with connection.cursor() as cursor:
        cursor.execute("SELECT palimpsest_erase_user(%s, %s, '')", [acme.team.pk, acme.dmitri.pk])

    batch = ImportBatch.objects.get()
    assert [item["user"] for item in batch.items] == ["sarah"]
    assert batch.users == ["sarah"]
    run = finish(answer, tools)
    assert (run.new, run.done, run.total) == (1, 1, 1)


def test_who_is_erased_while_memories_are_written_is_left_out(
    api: APIClient, acme: Cast, tools: Tools, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = send(api, [MEM0, {**MEM0, "id": "9", "user_id": "sarah"}]).json()
    erasures: list[object] = []

    def erased_first(**given: Any) -> Any:  # Any: the arguments of `remember`
        if not erasures:
            with connection.cursor() as cursor:
                erase = "SELECT palimpsest_erase_user(%s, %s, '')"
                erasures.append(cursor.execute(erase, [acme.team.pk, acme.dmitri.pk]))
        return remember(**given)

    monkeypatch.setattr("memory.satellites.transfer.imports.remember", erased_first)

    run = finish(answer, tools)

    assert (run.state, run.new, run.failed) == ("done", 1, 0)
    assert [memory.end_user_id for memory in Memory.objects.all()] == [acme.sarah.pk]
    assert not EndUser.objects.filter(external_id="dmitri").exists()


@pytest.mark.parametrize("where", ["append_messages", "remember"])
def test_what_fails_again_and_again_is_left_out_alone(
    api: APIClient, acme: Cast, tools: Tools, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    role = {"role": "user"} if where == "append_messages" else {}
    lines = [
        {"content": f"Boat {number} is blue.", "id": f"{number}", **role} for number in "12345"
    ]
    answer = send(api, "\n".join(map(json.dumps, lines))).json()
    write = getattr(imports, where)

    def fail_at_3(**given: Any) -> Any:  # Any: the arguments of either
        if any("Boat 3" in each.content for each in given.get("messages") or given["stated"]):
            raise RuntimeError("no words of it")
        return write(**given)

    monkeypatch.setattr(imports, where, fail_at_3)

    with pytest.raises(RuntimeError):
        finish(answer, tools)
    assert ImportRun.objects.get().state == "queued"
    ImportRun.objects.update(due_at=timezone.now(), attempts=settings.JOB_MAX_ATTEMPTS - 1)
    run = finish(answer, tools)

    assert (run.state, run.done, run.new, run.failed) == ("done", 4, 4, 1)
    assert run.errors == [
        {"place": "line 3", "problem": "It failed again and again: RuntimeError."}
    ]
    assert not ImportBatch.objects.exists()


def test_long_messages_wait_in_smaller_batches(
    api: APIClient, acme: Cast, tools: Tools, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory.satellites.transfer.imports.CHARS_A_BATCH", 50)
    lines = [{"content": "x" * 30, "id": f"{number}", "role": "user"} for number in range(5)]

    answer = send(api, "\n".join(map(json.dumps, lines)))

    assert [len(batch.items) for batch in ImportBatch.objects.all()] == [2, 2, 1]
    assert finish(answer.json(), tools).new == 5


def test_a_record_that_would_fill_the_memory_is_refused(
    api: APIClient, acme: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory.satellites.transfer.formats.reading._READ_BYTES", 100)
    monkeypatch.setattr("memory.satellites.transfer.formats.reading.MAX_RECORD_BYTES", 2_000)
    small = [{**MEM0, "id": str(number)} for number in range(50)]

    assert send(api, small).status_code == 202
    refused = send(api, [MEM0, {**MEM0, "metadata": {"x": "x" * 3_000}}])

    assert refused.status_code == 422
    assert "more than 2,000 bytes" in refused.json()["detail"]


def test_only_a_key_of_the_team_imports_and_exports(
    acme: Cast, globex: Cast, kyra: Agent, client_of: Clients, tools: Tools
) -> None:
    answer = send(client_of(acme), [MEM0])
    bound, stranger = client_of(acme, kyra), client_of(globex)
    address = f"/v1/imports/{answer.json()['id']}"

    assert send(bound, [MEM0]).status_code == 403
    assert {bound.get(path).status_code for path in (address, "/v1/imports", "/v1/export")} == {403}
    assert bound.delete(address).status_code == 403
    assert {stranger.get(address).status_code, stranger.delete(address).status_code} == {404}
    assert stranger.get("/v1/imports").json()["results"] == []


def test_the_command_imports_and_says_what(acme: Cast, tmp_path: Path) -> None:
    file = tmp_path / "memories.json"
    file.write_text(json.dumps([MEM0]))
    out = StringIO()

    call_command("import_memories", file, "--team", "acme", stdout=out, stderr=StringIO())

    assert "mem0: 1 of 1 items, 1 new, 0 failed" in out.getvalue()
    with pytest.raises(CommandError, match="There is no such file"):
        call_command("import_memories", tmp_path / "none", "--team", "acme")
    file.write_text("Just words.")
    with pytest.raises(CommandError, match="none of the formats"):
        call_command("import_memories", file, "--team", "acme")


@pytest.mark.parametrize(
    "content",
    [
        '[{"memory": "hi", "id": ' + "9" * 5_000 + "}]",
        '{"content": "hi", "id": ' + "9" * 5_000 + "}",
        '[{"uuid": "c", "chat_messages": [{"uuid": "m", "sender": [], "text": "hi"}]}]',
        r'{"content": "hi", "id": "a\u0000b"}',
        r'{"content": "hi", "id": "a\ud800b"}',
        r'{"content": "hi", "role": "user", "external_id": "a\ud800b"}',
        r'{"content": "hi", "role": "user", "thread_id": "a\u0000b"}',
    ],
    ids=[
        "a long integer",
        "a long integer in a line",
        "a sender that is a list",
        "NUL in an id",
        "half a surrogate pair in an id",
        "half a surrogate pair in the id of a message",
        "NUL in a thread",
    ],
)
def test_a_file_of_strange_values_is_refused(api: APIClient, acme: Cast, content: str) -> None:
    refused = api.post(
        "/v1/imports?agent=kyra&user=dana",
        content.encode(),
        content_type="application/octet-stream",
    )

    assert refused.status_code == 422, refused.content
    assert not ImportRun.objects.exists()


def test_a_form_is_refused_with_what_to_do(api: APIClient, acme: Cast) -> None:
    refused = api.post("/v1/imports", {"file": "x"}, format="multipart")

    assert refused.status_code in (415, 422)


def test_aliases_of_front_matter_do_not_grow(api: APIClient, acme: Cast) -> None:
    lines = ["a: &a [x, x]"]
    for last, name in zip("abcdefgh", "bcdefghi", strict=True):
        lines.append(f"{name}: &{name} [{', '.join(['*' + last] * 10)}]")
    bomb = "\n".join(lines) + "\n"
    answer = send(api, f"---\n{bomb}title: *i\ntags: [*i, tea]\n---\nTea is green.\n")

    assert answer.status_code == 202, answer.content
