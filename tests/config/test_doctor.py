"""The findings of `palimpsest doctor` about what is wrong; test_launcher.py has those of health."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable
from datetime import timedelta
from multiprocessing import Pipe, get_context
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
from celery import Celery
from django.conf import LazySettings
from django.db import IntegrityError, connection, connections
from django.utils import timezone
from django_redis import get_redis_connection

from audit.services.events import Event, record_events
from config import backup_times, doctor
from config.backup_times import note_verified_backup
from config.doctor import Finding, Level
from config.embedded import PROJECT_ROOT
from config.metrics import AT_WORK, note_at_work
from teams.tenancy import team_scope
from tests.support.cast import Cast
from tests.support.seals import memories, seal, town

__all__ = ["town"]

WEIGHTS = PROJECT_ROOT / "memory" / "understanding" / "weights"
BOTH = pytest.mark.django_db(databases=["default", "owner"])


def wrong(findings: Iterable[Finding]) -> str:
    """The texts of what is wrong, a line each."""
    return "\n".join(text for level, text in findings if level is Level.WRONG)


def test_a_home_that_is_a_file_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("")

    assert "home/data cannot be written to" in wrong(doctor.of_machine(tmp_path / "home" / "data"))


def test_a_home_in_a_folder_that_may_not_be_entered_is_wrong() -> None:
    def look(answer: Connection, folder: str) -> None:
        if os.geteuid() == 0:
            os.setuid(65_534)
        answer.send(wrong(doctor.of_machine(Path(folder) / "closed" / "home")))

    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        (Path(folder) / "closed").mkdir(mode=0o000)
        mine, theirs = Pipe()
        process = get_context("fork").Process(target=look, args=(theirs, folder))
        process.start()

        assert mine.poll(60)
        assert "closed/home cannot be written to" in mine.recv()
        process.join()


def test_a_damaged_and_a_missing_model_are_named(tmp_path: Path) -> None:
    folder = shutil.copytree(WEIGHTS, tmp_path / "weights")
    assert not wrong(doctor.of_weights(folder))

    (folder / "tokenizer.json").write_text("{}")
    (folder / "words.npy").unlink()

    assert "(tokenizer.json, words.npy)" in wrong(doctor.of_weights(folder))


@BOTH
def test_waiting_and_unknown_migrations_are_wrong() -> None:
    assert not wrong(doctor.of_database())

    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE django_migrations SET name = '9999_later'"
            " WHERE id = (SELECT max(id) FROM django_migrations WHERE app = 'memory')"
        )
    found = wrong(doctor.of_database())

    assert "Pending migrations: 1. Run «" in found
    assert "newer version (('memory', '9999_later'))" in found


@BOTH
def test_rights_that_the_application_should_not_have_are_wrong() -> None:
    with connection.cursor() as cursor:
        cursor.execute("CREATE TEMPORARY TABLE own (id int)")
        cursor.execute("ALTER TABLE own ENABLE ROW LEVEL SECURITY")
        cursor.execute(
            "CREATE TRIGGER append_only BEFORE UPDATE ON own FOR EACH ROW"
            " EXECUTE FUNCTION suppress_redundant_updates_trigger()"
        )
    found = wrong(doctor.of_database())

    assert "palimpsest_app is not held to its team by row-level security" in found
    assert "palimpsest_app may change or delete rows of own" in found


@pytest.mark.usefixtures("redis_server")
def test_a_redis_that_may_evict_the_queue_is_wrong() -> None:
    client = get_redis_connection("default")
    before = client.config_get("maxmemory-policy")["maxmemory-policy"]
    assert not wrong(doctor.of_redis())

    client.config_set("maxmemory-policy", "allkeys-lru")
    try:
        assert "maxmemory-policy allkeys-lru" in wrong(doctor.of_redis())
    finally:
        client.config_set("maxmemory-policy", before)


@pytest.mark.django_db
def test_a_missing_worker_is_wrong() -> None:
    get_redis_connection("default").delete(AT_WORK)
    assert "No worker has done a task for a minute" in wrong(doctor.of_work())

    note_at_work(is_busy=False)

    assert not wrong(doctor.of_work())


def test_a_broker_that_is_away_answers_for_no_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    with Celery(broker="amqp://127.0.0.1:9//", set_as_current=False) as away:
        monkeypatch.setattr("config.celery.app", away)

        assert doctor._answers_of_workers() == 0


def test_a_log_that_was_changed_is_wrong(town: Cast) -> None:
    memories(town, "One.")
    seal(town)
    assert not wrong(doctor.of_log())

    with team_scope(team_ids=[town.team.pk], actor="test"):
        record_events(team_id=town.team.pk, events=[Event("log", "verify", "error")])
    assert "found that a log was changed" in wrong(doctor.of_log())


@pytest.mark.usefixtures("redis_server")
def test_an_old_verified_backup_is_wrong() -> None:
    get_redis_connection("default").delete(backup_times._KEY)
    note_verified_backup(made_at=timezone.now() - timedelta(hours=49))
    old = wrong(doctor.of_backups())
    assert "The last verified backup is of" in old
    assert "manage.py backup» and «verify_backup»" in old

    note_verified_backup(made_at=timezone.now() - timedelta(hours=47))
    note_verified_backup(made_at=timezone.now() - timedelta(days=30))

    assert not wrong(doctor.of_backups())


@pytest.mark.usefixtures("committed_db")
def test_an_index_that_was_not_built_to_its_end_is_wrong() -> None:
    with connections["owner"].cursor() as cursor:
        cursor.execute("CREATE TABLE half AS SELECT 1 AS id FROM generate_series(1, 2)")
        try:
            with pytest.raises(IntegrityError):
                cursor.execute("CREATE UNIQUE INDEX CONCURRENTLY half_built ON half (id)")
            found = wrong(doctor.of_database())
        finally:
            cursor.execute("DROP TABLE half")

    assert "Indexes were not built to their end and are not used (half_built)" in found


@pytest.mark.usefixtures("committed_db")
def test_a_replica_that_does_not_answer_is_wrong(settings: LazySettings, tmp_path: Path) -> None:
    settings.DATABASE_REPLICAS = ["away"]
    own = connections.settings["default"]
    connections.settings["away"] = {**own, "HOST": str(tmp_path)}
    try:
        assert f"The replica {tmp_path} does not answer" in wrong(doctor.of_replicas())
    finally:
        del connections["away"], connections.settings["away"]


@pytest.mark.django_db
def test_models_are_called_where_asked(settings: LazySettings) -> None:
    settings.OPENAI_BASE_URL = "http://127.0.0.1:9/v1"

    assert not wrong(doctor.of_models(is_to_call=False))
    assert "Model endpoint OPENAI_BASE_URL:" in wrong(doctor.of_models(is_to_call=True))
