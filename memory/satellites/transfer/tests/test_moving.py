"""A team that moves to another deployment: it reads meanwhile, and goes on there as it was."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from threading import Event, Thread
from uuid import uuid4

import psycopg
import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import connections
from django.test import override_settings
from django.utils import timezone

from config.doctor import of_work
from memory.api.headers import REPLAY_HEADER
from memory.models import Memory
from memory.reading.usage import flush_noted_usage
from memory.satellites.transfer import moving
from memory.satellites.transfer.team_export import (
    RESET,
    TeamExport,
    team_column,
    team_tables,
    write_export,
)
from teams.errors import UnavailableError
from teams.services.keys import take_key_uses
from teams.services.moves import freeze_team, thaw_team
from teams.services.people import all_team_ids, frozen_team_ids
from teams.tasks import flush_key_use
from teams.tenancy import team_scope
from tests import factories
from tests.support.cast import Cast, Clients, make_cast
from tests.support.clean_database import maintenance_login
from tests.support.seals import memories, seal, town
from tests.support.second_database import in_second_database
from tests.support.waiting import until

__all__ = ["town"]

SECOND = "palimpsest_cell"
B = "https://b.example.com"
PAUSED = {"Retry-After": "2"}


def run(command: str, *args: object) -> str:
    """Returns the output of the command."""
    out = StringIO()
    call_command(command, *map(str, args), stdout=out)
    return out.getvalue()


def rows_of(cast: Cast) -> list[str]:
    """Returns the rows that leave with a move, but for columns that begin anew."""
    lines = TeamExport(team_id=cast.team.pk, actor="test", now=timezone.now(), is_move=True)
    _, *rows, _ = map(json.loads, lines)
    for each in rows:
        for name in {*RESET.get(each["table"], ()), "last_used_at"}:
            each["row"].pop(name, None)
    return [json.dumps(each, sort_keys=True) for each in rows]


def left_of(cast: Cast) -> dict[str, int]:
    """Counts the team's rows by table, of those tables that have any."""
    counts = {}
    with connections["owner"].cursor() as cursor:
        for table in team_tables():
            where = f"{team_column(table)} = %s"
            cursor.execute(f"SELECT count(*) FROM {table} WHERE {where}", [cast.team.pk])
            (counts[table],) = cursor.fetchone()
    return {table: count for table, count in counts.items() if count}


def contents(cast: Cast) -> list[str]:
    """The texts of the team's memories."""
    with team_scope(team_ids=[cast.team.pk], actor="test"):
        return sorted(Memory.objects.values_list("content", flat=True))


@contextmanager
def without_right_past_triggers() -> Iterator[None]:
    """Takes from the owner's login what the embedded server grants, and other servers may not."""
    if not settings.HAS_OWN_POSTGRES:
        yield
        return
    right = "SET ON PARAMETER session_replication_role"
    owner = connections["owner"].settings_dict["USER"]
    with psycopg.connect(maintenance_login(), autocommit=True) as superuser:
        superuser.execute(f"REVOKE {right} FROM {owner}")
        try:
            yield
        finally:
            superuser.execute(f"GRANT {right} TO {owner}")


def stated(text: str) -> dict[str, str]:
    """A memory as the API takes it."""
    return {"agent": "kyra", "content": text}


@pytest.mark.usefixtures("redis_server")
def test_a_frozen_team_is_read_and_not_written_until_it_is_thawed(
    town: Cast, client_of: Clients, tmp_path: Path
) -> None:
    other = make_cast(f"other-{uuid4().hex}")
    client, neighbour = client_of(town), client_of(other)
    client.post("/v1/memories", stated("One."), format="json")
    client.post("/v1/tasks", {"task": "t1"}, format="json")
    with pytest.raises(CommandError, match="No such file"):
        run("move_team", "--team", town.team.slug, "--out", tmp_path / "none" / "town.jsonl")
    assert frozen_team_ids() == set()
    assert freeze_team(team_id=town.team.pk, now=timezone.now())
    # As after an export that was killed: no file has what would be removed here.
    with pytest.raises(CommandError, match="has not been exported"):
        run("move_team", "--team", town.team.slug, "--to", B)

    assert "One." in client.get("/v1/memories").content.decode()
    asked = {"agent": "kyra", "query": "One."}
    for headers in ({}, {"Idempotency-Key": "as our clients send it"}):
        read = client.post("/v1/retrieve", asked, format="json", headers=headers)
        assert "One." in read.content.decode()
    for path, body in (
        ("/v1/memories", stated("Two.")),
        ("/v1/conversations", {"agent": "kyra", "user": "sarah"}),
        # Redis alone would have it.
        ("/v1/tasks/t1/items", {"kind": "reasoning", "content": "Two."}),
    ):
        refused = client.post(path, body, format="json")
        assert refused.status_code == 503, path
        assert PAUSED.items() <= dict(refused.headers).items()
        assert "being moved" in refused.json()["detail"]
    assert neighbour.post("/v1/memories", stated("Theirs."), format="json").status_code == 201

    # What goes round all teams leaves it alone and reaches the others.
    assert frozen_team_ids() == {town.team.pk}
    assert other.team.pk in all_team_ids()
    assert town.team.pk not in all_team_ids()
    assert f"'{town.team.slug}' has taken no changes" in str(list(of_work()))
    flush_noted_usage()
    flush_key_use()
    assert take_key_uses() == {}

    assert "takes changes again" in run("move_team", "--team", town.team.slug, "--cancel")
    assert client.post("/v1/memories", stated("Two."), format="json").status_code == 201
    assert contents(town) == ["One.", "Two."]
    with pytest.raises(CommandError, match="not being moved"):
        run("move_team", "--team", town.team.slug, "--cancel")
    with pytest.raises(CommandError, match="run this with --out first"):
        run("move_team", "--team", town.team.slug, "--to", B)


@pytest.mark.usefixtures("redis_server")
def test_a_file_that_was_cancelled_while_it_was_written_allows_no_move(
    town: Cast, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cancelled(lines: TeamExport, file: Path) -> int:
        thaw_team(team_id=town.team.pk)
        return write_export(lines, file)

    monkeypatch.setattr(moving, "write_export", cancelled)
    with pytest.raises(CommandError, match="Another command ended this move"):
        run("move_team", "--team", town.team.slug, "--out", tmp_path / "town.jsonl")

    freeze_team(team_id=town.team.pk, now=timezone.now())
    with pytest.raises(CommandError, match="has not been exported"):
        run("move_team", "--team", town.team.slug, "--to", B)
    thaw_team(team_id=town.team.pk)


@pytest.fixture
def writer(town: Cast) -> Callable[[], Event]:
    """Starts a transaction that has not written yet, and ends it with a memory when let go."""
    threads = []

    def start() -> Event:
        has_begun, may_write = Event(), Event()

        def write() -> None:
            with team_scope(team_ids=[town.team.pk], actor="test"):
                has_begun.set()
                may_write.wait(60)
                factories.MemoryFactory.create(team=town.team, content="Written late.")
            connections.close_all()

        thread = Thread(target=write)
        threads.append(thread)
        thread.start()
        has_begun.wait(60)
        return may_write

    return start


def test_a_freeze_waits_for_transactions_that_began_before(
    town: Cast, writer: Callable[[], Event]
) -> None:
    may_write = writer()
    with pytest.raises(UnavailableError, match=r"have not ended within 0\.1 s"):
        freeze_team(team_id=town.team.pk, now=timezone.now(), seconds=0.1)
    assert town.team.pk in all_team_ids()

    has_frozen = Event()

    def freeze() -> None:
        freeze_team(team_id=town.team.pk, now=timezone.now(), seconds=60)
        has_frozen.set()
        connections.close_all()

    thread = Thread(target=freeze)
    thread.start()
    until(lambda: town.team.pk in frozen_team_ids())
    assert not has_frozen.is_set()
    may_write.set()
    thread.join(60)

    assert has_frozen.is_set()
    assert contents(town) == ["Written late."]
    thaw_team(team_id=town.team.pk)


@pytest.mark.usefixtures("redis_server")
def test_a_team_moves_with_its_keys_and_comes_back(
    town: Cast, client_of: Clients, tmp_path: Path
) -> None:
    client, body = client_of(town), stated("One.")
    first = client.post("/v1/memories", body, format="json", HTTP_IDEMPOTENCY_KEY="the-first")
    memories(town, "Two.")
    seal(town)
    there, back = tmp_path / "there.jsonl", tmp_path / "back.jsonl"
    slug = town.team.slug
    said = run("move_team", "--team", slug, "--out", there)
    assert "The team is frozen" in said
    before = rows_of(town)

    with in_second_database(SECOND, is_migrated=True):
        with (
            override_settings(SEAL_KEYS=["another"]),
            pytest.raises(CommandError, match="SEAL_KEYS_PREVIOUS"),
        ):
            run("import_team", there)
        assert "its API keys go on working" in run("import_team", there)
        assert rows_of(town) == before
        assert "as it was sealed" in run("verify_log", "--team", slug)
        again = client.post("/v1/memories", body, format="json", HTTP_IDEMPOTENCY_KEY="the-first")
        assert (again.json(), again[REPLAY_HEADER]) == (first.json(), "true")
        assert client.post("/v1/memories", stated("Three."), format="json").status_code == 201
        assert seal(town)
        assert contents(town) == ["One.", "Three.", "Two."]
        run("move_team", "--team", slug, "--out", back)

    with pytest.raises(CommandError, match="address such as"):
        run("move_team", "--team", slug, "--to", "b")
    with without_right_past_triggers():
        assert f"Its clients are told {B}" in run("move_team", "--team", slug, "--to", B)
    for answer in (
        client.get("/v1/memories"),
        client.post("/v1/memories", stated("Four."), format="json"),
    ):
        assert answer.status_code == 421
        assert answer.json()["moved_to"] == B
        assert f"has moved to {B}" in answer.json()["detail"]
    assert left_of(town).keys() == {"teams_team", "teams_apikey"}
    # Harmless, as after an interruption.
    run("move_team", "--team", slug, "--to", B)
    with pytest.raises(CommandError, match="moved away already"):
        run("move_team", "--team", slug, "--out", tmp_path / "gone.jsonl")

    with without_right_past_triggers():
        with pytest.raises(CommandError, match="with which the team"):
            run("import_team", there)
        run("import_team", back)

    assert contents(town) == ["One.", "Three.", "Two."]
    assert "as it was sealed" in run("verify_log", "--team", slug)
    assert client.post("/v1/memories", stated("Four."), format="json").status_code == 201
