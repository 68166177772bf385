"""A team's export: what is in it, and the same team in another installation, now and then."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from datetime import datetime
from io import StringIO
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.core.management import CommandError, call_command
from django.db import connections
from django.test import override_settings
from django.utils import timezone

from audit.models import LogCommit
from memory.domain.audience import Viewer
from memory.models import EmbeddingState
from memory.satellites.demo.services import load_demo
from memory.satellites.transfer.api import lines_file
from memory.satellites.transfer.team_export import RESET, TeamExport, exported_tables, kept_back
from memory.selectors.history.states import fields_of, state_at
from memory.selectors.memories import MemoryFilters
from memory.understanding.tools import Tools
from teams.models import Team
from teams.tenancy import team_scope
from tests.support.cast import Cast, Clients
from tests.support.chat_models import make_provider
from tests.support.erasure import erase, post
from tests.support.seals import memories, seal, town
from tests.support.second_database import in_second_database
from tests.support.tenants import TENANT_MODELS, settle

__all__ = ["town"]

SECOND = "palimpsest_moved"
# What leaves with a team; a new table is added here, or to what is kept back with the reason.
EXPORTED = {
    *("audit_commitclock", "audit_erasure", "audit_logcommit", "audit_memorylog"),
    *("audit_operationalevent", "audit_seal", "audit_teamrevision"),
    "confirmation_confirmation",
    *("memory_category", "memory_channelvalue", "memory_compaction", "memory_consentrequest"),
    *("memory_consolidationchange", "memory_consolidationrun", "memory_contradiction"),
    *("memory_externalname", "memory_graphcheckpoint", "memory_graphthread", "memory_importbatch"),
    *("memory_importrun", "memory_job", "memory_judgedpair", "memory_memory"),
    *("memory_memoryartifact", "memory_memorylevels", "memory_memoryrelation"),
    *("memory_memorytag", "memory_memoryusage", "memory_messageentry", "memory_pendingwrite"),
    *(
        "memory_searchentry",
        "memory_settlement",
        "memory_signaluse",
        "memory_storeitem",
        "memory_workflowrecording",
    ),
    *("routing_chatmodel", "routing_provider", "routing_routingdecision"),
    *("routing_spendentry", "routing_spendepoch", "routing_spendtotal"),
    *("teams_agent", "teams_agentalias", "teams_agentversion", "teams_checkpoint"),
    *("teams_conversation", "teams_enduser", "teams_message", "teams_project"),
    *("teams_team", "teams_teamversion", "teams_toldrevision"),
}


def exported(team: Team) -> list[bytes]:
    return list(TeamExport(team_id=team.pk, actor="test", now=timezone.now()))


def run(command: str, *args: object) -> str:
    """Returns the output of the command."""
    out = StringIO()
    call_command(command, *map(str, args), stdout=out)
    return out.getvalue()


def known(team: Team, moments: list[datetime]) -> list[dict[UUID, dict[str, object]]]:
    """Returns the team's memories at each of the times, with all their fields."""
    viewer = Viewer(team_id=team.pk, actor="test")
    with team_scope(team_ids=[team.pk], actor="test"):
        return [
            {
                row.pk: fields_of(row)
                for row in state_at(viewer=viewer, at=at, filters=MemoryFilters()).memories
            }
            for at in moments
        ]


@pytest.fixture
def ten_moments(town: Cast, client_of: Clients, tools: Tools) -> list[datetime]:
    """Times at which a team that has everything knew different things; the log is sealed."""
    load_demo(team_id=town.team.pk, tools=tools, actor="test", now=timezone.now())
    settle(town)
    first = memories(town, "One.", "Two.")
    seal(town)
    for memory in first:
        post(client_of(town), f"memories/{memory.pk}/correct", corrected_content="Other.")
    erase(town, "dmitri")
    seal(town)
    memories(town, "Three.")
    with team_scope(team_ids=[town.team.id], actor="test"):
        commits = LogCommit.objects.order_by("position").values_list("at", flat=True)
        moments = [at for at in commits if at is not None]
    return [moments[len(moments) * part // 10] for part in range(10)]


@pytest.fixture
def file(town: Cast, ten_moments: list[datetime], tmp_path: Path) -> Path:
    """Exports that team to a file."""
    run("export_team", "--team", town.team.slug, "--out", tmp_path / "town.jsonl")
    return tmp_path / "town.jsonl"


def test_an_imported_team_is_what_it_was_now_and_at_ten_moments_and_goes_on(
    town: Cast, ten_moments: list[datetime], file: Path, client_of: Clients
) -> None:
    before, states = exported(town.team), known(town.team, ten_moments)
    changed = [*before]
    changed[7] = changed[7].replace(b'"row": {', b'"row": {"other": 1, ', 1)

    with in_second_database(SECOND, is_migrated=True):
        broken = file.with_name("broken.jsonl")
        broken.write_bytes(b"".join(changed))
        with pytest.raises(CommandError, match="Line 8: its columns are not those"):
            run("import_team", broken)
        assert not Team.objects.using("owner").exists()
        said = run("import_team", file)

        assert "2 seals as they were" in said
        assert exported(town.team)[1:] == before[1:]
        assert known(town.team, ten_moments) == states
        assert EmbeddingState.objects.exists()
        memories(town, "Four.")
        assert seal(town)
        assert "as it was sealed" in run("verify_log", "--team", town.team.slug)
        assert "Four." in client_of(town).get("/v1/memories").content.decode()
        with pytest.raises(CommandError, match=f"There is a team '{town.team.slug}' here"):
            run("import_team", file)


def test_an_export_holds_each_table_of_the_team_or_says_why_not() -> None:
    tables = {model._meta.db_table for model in TENANT_MODELS} | {"teams_team"}

    assert set(exported_tables()) == EXPORTED
    assert EXPORTED | set(kept_back()) == tables
    assert set(RESET) <= set(exported_tables(is_move=True))


def test_an_export_has_rows_of_nobody_else_and_no_credentials(
    town: Cast, ten_moments: list[datetime]
) -> None:
    with team_scope(team_ids=[town.team.pk], actor="test"):
        make_provider(town, encrypted_key="a-credential")

    header, *rows, last = map(json.loads, exported(town.team))

    assert not any("encrypted_key" in each["row"] for each in rows)
    assert header["team"] == {"id": str(town.team.pk), "slug": town.team.slug}
    assert {each["row"].get("team_id", each["row"].get("id")) for each in rows} == {
        str(town.team.pk)
    }
    assert {each["table"] for each in rows} & set(kept_back()) == set()
    told = {table: each["rows"] for table, each in last["manifest"]["tables"].items()}
    assert sum(told.values()) == len(rows)
    empty = {table for table, count in told.items() if not count}
    assert {"memory_memory", "teams_message", "audit_memorylog", "audit_seal"} & empty == set()
    lines = b"".join(
        line for line in exported(town.team) if line.startswith(b'{"table": "teams_message"')
    )
    assert last["manifest"]["tables"]["teams_message"]["sha256"] == (
        hashlib.sha256(lines).hexdigest()
    )


def without_manifest(lines: list[bytes]) -> None:
    lines.pop()


def with_broken_line(lines: list[bytes]) -> None:
    lines[3] = lines[3][:-9] + b"\n"


def with_a_row_less(lines: list[bytes]) -> None:
    lines.pop(4)


def with_a_row_of_another_team(lines: list[bytes]) -> None:
    row = json.loads(lines[4])
    row["row"]["team_id"] = str(uuid4())
    lines[4] = json.dumps(row).encode() + b"\n"


def with_a_later_column(lines: list[bytes]) -> None:
    header = json.loads(lines[0])
    header["columns"]["teams_team"].append("later")
    lines[0] = json.dumps(header).encode() + b"\n"


def with_a_line_too_many(lines: list[bytes]) -> None:
    lines.append(lines[2])


def of_another_format(lines: list[bytes]) -> None:
    lines[0] = b'{"messages": []}\n'


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (without_manifest, "without a manifest: it was cut off"),
        (with_broken_line, "Line 4: it is no JSON"),
        (with_a_row_less, "are not those that were exported"),
        (with_a_row_of_another_team, "Line 5: the row is of another team"),
        (with_a_later_column, "teams_team.later, which is not known here"),
        (with_a_line_too_many, "nothing may follow the manifest"),
        (of_another_format, "no export of a team"),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_a_broken_export_is_refused_and_named(
    town: Cast, tmp_path: Path, change: Callable[[list[bytes]], None], words: str
) -> None:
    lines = exported(town.team)
    change(lines)
    file = tmp_path / "broken.jsonl"
    file.write_bytes(b"".join(lines))
    teams = Team.objects.using("owner").count()

    with pytest.raises(CommandError, match=words):
        run("import_team", file)

    assert Team.objects.using("owner").count() == teams


def test_seals_of_another_key_are_refused(town: Cast, tmp_path: Path) -> None:
    memories(town, "One.")
    seal(town)
    file = tmp_path / "sealed.jsonl"
    run("export_team", "--team", town.team.slug, "--out", file)

    with (
        override_settings(SEAL_KEYS=["another"]),
        pytest.raises(CommandError, match="SEAL_KEYS_PREVIOUS"),
    ):
        run("import_team", file)


def test_the_api_streams_the_same_lines(town: Cast, client_of: Clients) -> None:
    memories(town, "A line\u2028of two\u0085parts.")
    Team.objects.using("owner").filter(pk=town.team.pk).update(slug="a\u2028b")

    answer = client_of(town).get("/v1/export")

    lines = b"".join(answer.streaming_content).decode().splitlines()  # type: ignore[attr-defined]
    assert (answer.status_code, answer["Content-Type"]) == (200, "application/x-ndjson")
    rows = [json.loads(line) for line in lines]
    texts = [each["row"]["content"] for each in rows if each.get("table") == "memory_memory"]
    assert texts == ["A line\u2028of two\u0085parts."]
    assert rows[0]["team"]["slug"] == "a\u2028b"
    assert rows[-1]["manifest"]["tables"]["memory_memory"]["rows"] == 1


def test_an_export_that_is_left_early_ends_its_transaction(town: Cast) -> None:
    export = TeamExport(team_id=town.team.id, actor="test", now=timezone.now())
    answer = lines_file(export, "team.jsonl")

    next(iter(answer))
    assert connections["default"].in_atomic_block
    answer.close()

    assert not connections["default"].in_atomic_block


def test_an_export_is_of_one_snapshot(town: Cast) -> None:
    lines = iter(TeamExport(team_id=town.team.pk, actor="test", now=timezone.now()))
    first = next(lines)
    with connections["owner"].cursor() as cursor:
        cursor.execute("UPDATE teams_team SET name = 'Later' WHERE id = %s", [town.team.pk])

    rows = [json.loads(line) for line in lines]

    assert json.loads(first)["team"]["slug"] == town.team.slug
    told: Any = next(each["row"] for each in rows if each.get("table") == "teams_team")
    assert told["name"] != "Later"


def test_an_export_names_a_file_that_is_new(town: Cast, tmp_path: Path) -> None:
    (tmp_path / "there").touch()

    with pytest.raises(CommandError, match="is there already"):
        run("export_team", "--team", town.team.slug, "--out", tmp_path / "there")
    with pytest.raises(CommandError, match="There is no team"):
        run("export_team", "--team", "nobody", "--out", tmp_path / "new")
    assert not (tmp_path / "new").exists()
