"""A backup made while others write, and what a restore of it brings back and refuses."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable
from datetime import datetime
from io import StringIO
from pathlib import Path
from threading import Event, Thread
from typing import Any
from uuid import UUID

import psycopg
import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import connections
from django.test import override_settings
from django_redis import get_redis_connection

from audit.models import LogCommit
from audit.services.seals import seal_keys
from config.backup import (
    DUMP,
    MANIFEST,
    SEAL_KEYS,
    BackupError,
    Contents,
    Manifest,
    _load,
    read_manifest,
    run_client,
    sha256_of,
    write_manifest,
)
from config.backup_times import last_verified_backup
from config.embedded import PROJECT_ROOT, EmbeddedError, postgres_pid
from config.management.commands.migrate import prepare_database
from memory.domain.audience import Viewer
from memory.models import Memory
from memory.selectors.history.states import fields_of, state_at
from memory.selectors.memories import MemoryFilters
from teams.tenancy import team_scope
from tests.support.cast import Cast, Clients
from tests.support.clean_database import conninfo_of
from tests.support.erasure import post
from tests.support.installation import Installation
from tests.support.seals import memories, seal, town
from tests.support.second_database import in_second_database
from tests.support.waiting import until

__all__ = ["town"]

SECOND = "palimpsest_restored"
HEAD = f"9:{'0' * 64}"
# Who else than the owner may do what with which table, by row-level security and grants.
_RIGHTS = """
SELECT c.relname, c.relrowsecurity, p.policies,
    array_agg(a.grantee || ' ' || a.privilege ORDER BY a.grantee, a.privilege)
FROM pg_class c
LEFT JOIN LATERAL (
    SELECT array_agg(polname || pg_get_expr(polqual, polrelid) ORDER BY polname) AS policies
    FROM pg_policy WHERE polrelid = c.oid
) p ON true
LEFT JOIN LATERAL (
    SELECT x.grantee::regrole::text AS grantee, x.privilege_type AS privilege
    FROM aclexplode(c.relacl) x WHERE x.grantee <> c.relowner
) a ON true
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'S')
GROUP BY 1, 2, 3 ORDER BY 1
"""
_ROUTINES = """
SELECT oid::regprocedure::text, proacl::text, prosecdef FROM pg_proc p
WHERE pronamespace = 'public'::regnamespace
    AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')
ORDER BY 1
"""
_TRIGGERS = """
SELECT tgrelid::regclass::text, tgname, tgenabled::text, tgtype, tgfoid::regproc::text
FROM pg_trigger WHERE NOT tgisinternal ORDER BY 1, 2
"""
_DEFAULT_RIGHTS = "SELECT defaclobjtype::text, defaclacl::text FROM pg_default_acl ORDER BY 1"
_SEQUENCES = "SELECT sequencename, coalesce(last_value, 0) FROM pg_sequences ORDER BY 1"


def asked(query: str) -> list[tuple[object, ...]]:
    """Runs a query as the owner on the database in use, and returns its rows."""
    with connections["owner"].cursor() as cursor:
        cursor.execute(query)
        return list(cursor.fetchall())


def run(command: str, *args: object) -> str:
    """Runs a command and returns its output."""
    out = StringIO()
    call_command(command, *map(str, args), stdout=out)
    return out.getvalue()


@pytest.fixture
def ten_moments(town: Cast, client_of: Clients) -> list[datetime]:
    """Times at which the team knew different things, in a log that is sealed but for its end."""
    api = client_of(town)
    first = memories(town, "One.", "Two.", "Three.")
    for memory, text in zip(first, ("One more.", "Two more.", "Three more."), strict=True):
        post(api, f"memories/{memory.pk}/correct", corrected_content=text, reason="It changed.")
    seal(town)
    memories(town, "Four.", "Five.", "Six.")
    seal(town)
    memories(town, "Seven.")
    with team_scope(team_ids=[town.team.id], actor="test"):
        commits = LogCommit.objects.order_by("position").values_list("at", flat=True)
        return [at for at in commits if at is not None][:10]


@pytest.fixture
def backup(ten_moments: list[datetime], tmp_path: Path) -> Path:
    """A backup of that team and of whatever else is in the database."""
    folder = tmp_path / "backup"
    run("backup", folder)
    return folder


def known(town: Cast, moments: list[datetime]) -> list[dict[UUID, dict[str, object]]]:
    """Returns the team's memories at each of the times, with all their fields."""
    viewer = Viewer(team_id=town.team.id, actor="test")
    states = []
    with team_scope(team_ids=[town.team.id], actor="test"):
        for at in moments:
            rows = state_at(viewer=viewer, at=at, filters=MemoryFilters()).memories
            states.append({row.pk: fields_of(row) for row in rows})
    return states


def test_what_is_restored_is_what_was_and_goes_on(
    town: Cast, ten_moments: list[datetime], backup: Path, client_of: Clients
) -> None:
    before = known(town, ten_moments)
    schema = [asked(query) for query in (_RIGHTS, _ROUTINES, _TRIGGERS)]
    sequences = asked(_SEQUENCES)
    get_redis_connection("default").set(f"{settings.REDIS_PREFIX}:of-another-time", 1)

    with in_second_database(SECOND):
        said = run("restore", backup)
        after = known(town, ten_moments)
        assert [asked(query) for query in (_RIGHTS, _ROUTINES, _TRIGGERS)] == schema
        assert asked(_SEQUENCES) == sequences
        assert "as it was sealed" in run("verify_log", "--team", town.team.slug)
        memories(town, "Eight.")
        assert seal(town)
        assert "as it was sealed" in run("verify_log", "--team", town.team.slug)
        assert client_of(town).get("/v1/memories").status_code == 200

    assert "log and seals are as they were" in said
    assert "revoked or rotated since" in said
    assert len(ten_moments) == 10
    assert len({str(state) for state in before}) == 10
    assert after == before
    assert get_redis_connection("default").get(f"{settings.REDIS_PREFIX}:of-another-time") is None


def test_a_backup_made_while_others_write_is_of_one_moment(town: Cast, tmp_path: Path) -> None:
    ended = Event()
    written: list[Memory] = []

    def write() -> None:
        while not ended.is_set():
            written.extend(memories(town, f"Number {len(written)}."))
        connections.close_all()

    writer = Thread(target=write)
    writer.start()
    until(lambda: len(written) > 2)
    before = len(written)
    run("backup", tmp_path / "backup")
    during = len(written) - before
    ended.set()
    writer.join()

    assert during > 3
    with in_second_database(SECOND):
        # Which compares the rows of every table with the manifest's.
        assert "log and seals are as they were" in run("restore", tmp_path / "backup")


def test_keys_of_seals_are_named_and_only_added_when_asked_for(
    backup: Path, tmp_path: Path
) -> None:
    run("backup", tmp_path / "whole", "--with-seal-keys")

    written = b"".join(file.read_bytes() for file in backup.iterdir())
    assert settings.SEAL_KEYS[0].encode() not in written
    assert json.loads((backup / MANIFEST).read_text())["contents"]["seal_keys"] == list(seal_keys())
    kept = tmp_path / "whole" / SEAL_KEYS
    assert kept.read_text().splitlines() == settings.SEAL_KEYS
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert stat.S_IMODE(backup.stat().st_mode) == 0o700


def test_a_backup_does_not_replace_another(backup: Path) -> None:
    digest = (backup / MANIFEST).read_bytes()

    with pytest.raises(CommandError, match="there already"):
        run("backup", backup)

    assert (backup / MANIFEST).read_bytes() == digest


def changed(backup: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Write the manifest with a change."""
    given = json.loads((backup / MANIFEST).read_text())  # Any: what a file may hold
    change(given)
    (backup / MANIFEST).write_text(json.dumps(given))


@pytest.fixture
def by_hand(tmp_path: Path) -> Path:
    """A folder that is as whole as a backup."""
    dump = tmp_path / DUMP
    dump.write_bytes(b"0123456789" * 100)
    contents = Contents(postgres=180004, migrations=[], rows={}, teams={}, seal_keys=[])
    manifest = Manifest(
        version="1",
        made_at="2026-05-01",
        dump_bytes=1000,
        dump_sha256=sha256_of(dump),
        contents=contents,
    )
    write_manifest(manifest, folder=tmp_path)
    assert read_manifest(tmp_path) == manifest
    return tmp_path


def a_byte_of_the_dump(backup: Path) -> None:
    dump = bytearray((backup / DUMP).read_bytes())
    dump[len(dump) // 2] ^= 1
    (backup / DUMP).write_bytes(dump)


@pytest.mark.parametrize(
    ("spoil", "refusal"),
    [
        (a_byte_of_the_dump, "was changed or cut"),
        (lambda backup: (backup / DUMP).write_bytes(b"01234"), "was changed or cut"),
        (lambda backup: (backup / DUMP).unlink(), "No such file"),
        (lambda backup: (backup / MANIFEST).unlink(), "is not a backup"),
        (lambda backup: (backup / MANIFEST).write_text('{"format": 1,'), "was changed or cut"),
        (lambda backup: (backup / MANIFEST).write_text("[]"), "not a manifest"),
        (lambda backup: changed(backup, lambda given: given.update(format=2)), "another version"),
        (lambda backup: changed(backup, lambda given: given.pop("contents")), "not a manifest"),
    ],
)
def test_a_backup_that_is_not_whole_is_refused(
    by_hand: Path, spoil: Callable[[Path], object], refusal: str
) -> None:
    spoil(by_hand)

    with pytest.raises(CommandError, match=refusal):
        run("restore", by_hand)


@pytest.mark.parametrize(
    ("given", "refusal"),
    [
        ({"migrations": ["memory.9999_later"]}, "memory.9999_later"),
        ({"seal_keys": ["0123456789abcdef"]}, "0123456789abcdef"),
    ],
)
def test_a_backup_that_this_installation_cannot_use_changes_nothing(
    committed_db: None, by_hand: Path, given: dict[str, object], refusal: str
) -> None:
    before = tables()
    changed(by_hand, lambda manifest: manifest["contents"].update(given))

    with pytest.raises(CommandError, match=refusal):
        run("restore", by_hand)

    assert tables() == before > 20


def test_a_database_that_is_not_empty_is_left_alone(town: Cast, backup: Path) -> None:
    with in_second_database(SECOND):
        run("restore", backup)
        memories(town, "Eight.")
        with pytest.raises(CommandError, match="not empty"):
            run("restore", backup)
        assert "Eight." in contents(town)


def test_a_log_that_was_cut_off_is_found(town: Cast, backup: Path) -> None:
    # As when manifest and dump were made to fit.
    changed(backup, lambda given: given["contents"]["teams"][str(town.team.id)].update(seal=HEAD))

    with in_second_database(SECOND), pytest.raises(CommandError, match="2 findings"):
        run("restore", backup)


def test_a_database_in_use_is_left_alone(committed_db: None, by_hand: Path) -> None:
    before = tables()

    with (
        psycopg.connect(conninfo_of("default")),
        pytest.raises(CommandError, match="other connections"),
    ):
        run("restore", by_hand)

    assert tables() == before


def test_a_load_that_fails_leaves_the_database_empty(backup: Path) -> None:
    with in_second_database(SECOND):
        prepare_database(using="owner")
        listed = run_client("pg_restore", "--list", str(backup / DUMP), names_database=False)
        # As when somebody made a table meanwhile.
        with connections["owner"].cursor() as cursor:
            cursor.execute("CREATE TABLE memory_memory (id int)")
        with pytest.raises(BackupError, match=r"pg_restore failed: .*already exists"):
            _load(backup, listed=listed)
        assert tables() == 1


def without_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hides PostgreSQL's programs, those of the embedded server too."""

    def missing() -> Path:
        raise EmbeddedError("There is none.")

    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr("config.backup.binaries_folder", missing)


def test_a_missing_program_is_named(
    by_hand: Path, committed_db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_programs(monkeypatch)
    with (
        in_second_database(SECOND),
        override_settings(HAS_OWN_POSTGRES=False),
        pytest.raises(CommandError, match="pg_restore is not installed"),
    ):
        run("restore", by_hand)


def test_a_backup_of_a_newer_postgresql_changes_nothing(committed_db: None, by_hand: Path) -> None:
    before = tables()
    changed(by_hand, lambda manifest: manifest["contents"].update(postgres=990001))

    with pytest.raises(CommandError, match="PostgreSQL 99"):
        run("restore", by_hand)

    assert tables() == before


def test_only_an_unfinished_backup_is_cleared_away_and_a_failed_one_leaves_nothing(
    town: Cast, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    partial = tmp_path / "backup.partial"
    partial.mkdir()
    (partial / "notes.txt").write_text("of somebody else")

    with pytest.raises(CommandError, match="in the way"):
        run("backup", tmp_path / "backup")
    assert (partial / "notes.txt").read_text() == "of somebody else"

    (partial / "notes.txt").rename(partial / DUMP)
    with monkeypatch.context() as nowhere, override_settings(HAS_OWN_POSTGRES=False):
        without_programs(nowhere)
        with pytest.raises(CommandError, match="not installed"):
            run("backup", tmp_path / "other")
    assert not (tmp_path / "other.partial").exists()
    run("backup", tmp_path / "backup")
    assert [file.name for file in tmp_path.iterdir()] == ["backup"]


def tables() -> int:
    """Returns the number of tables in the database in use."""
    (row,) = asked("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'")
    return int(str(row[0]))


def contents(town: Cast) -> set[object]:
    """The texts of the team's memories in the database in use."""
    query = f"SELECT content FROM memory_memory WHERE team_id = '{town.team.id}'"
    return {text for (text,) in asked(query)}


def test_servers_that_a_command_started_stay_for_those_that_found_them() -> None:
    code = (
        "import sys, django; django.setup(); from config.backup import embedded_servers\n"
        "with embedded_servers(): print('up', flush=True); sys.stdin.read()"
    )
    with tempfile.TemporaryDirectory(prefix="palimpsest-test-") as folder:
        installation = Installation(Path(folder) / "home")

        def using() -> subprocess.Popen[str]:
            process = subprocess.Popen(
                [sys.executable, "-c", code],
                cwd=PROJECT_ROOT,
                env={**installation.environment, "DJANGO_SETTINGS_MODULE": "config.settings"},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            assert process.stdout is not None
            assert process.stdout.readline() == "up\n"
            return process

        try:
            first, second = using(), using()
            refused = installation.refused()
            with pytest.raises(subprocess.TimeoutExpired):
                first.communicate(timeout=2)
            is_there = postgres_pid(installation.home) is not None
            second.communicate(timeout=60)
            first.communicate(timeout=60)

            assert "already running" in refused
            assert is_there
            assert (first.returncode, second.returncode) == (0, 0)
            assert postgres_pid(installation.home) is None
        finally:
            installation.kill_everything()


def test_a_backup_is_verified_in_a_server_of_its_own(town: Cast, backup: Path) -> None:
    made_at = datetime.fromisoformat(read_manifest(backup).made_at)
    known = asked("SELECT datname FROM pg_database ORDER BY 1")
    key = f"{settings.REDIS_PREFIX}:of-now"
    get_redis_connection("default").set(key, 1)

    said = run("verify_backup", backup)

    assert f"Restored the backup of {made_at.isoformat(timespec='seconds')}" in said
    assert "log and seals are as they were" in said
    assert last_verified_backup() == made_at
    # The installation is as it was.
    assert asked("SELECT datname FROM pg_database ORDER BY 1") == known
    assert get_redis_connection("default").get(key)

    manifest = read_manifest(backup)
    manifest.contents.rows["memory_memory"] += 1
    manifest.made_at = "2026-01-01T00:00:00+00:00"
    write_manifest(manifest, folder=backup)
    with pytest.raises(CommandError, match=r"too many after the restore: memory_memory\."):
        run("verify_backup", backup)
    assert last_verified_backup() == made_at
