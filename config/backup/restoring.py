"""Brings a backup back into a database, and checks what came back."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

from django.conf import settings
from django.core.management import call_command
from django.db import connections, transaction
from django.db.backends.utils import CursorWrapper
from django.db.migrations.loader import MigrationLoader
from django_redis import get_redis_connection

from audit.services.seals import Head, seal_keys
from audit.services.verification import verify_team
from config.backup.dumping import OWNER, contents_of
from config.backup.manifest import DUMP, BackupError, Contents, Manifest, TeamState
from config.backup.programs import run_client
from config.management.commands.migrate import prepare_database
from config.settings import APP_ROLE

_TABLES = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"
_OTHERS = """
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND usesysid IS NOT NULL AND pid <> pg_backend_pid()
"""
# Entries of the dump that `migrate` makes by itself, for whatever login owns the tables here.
_NOT_RESTORED = (" DEFAULT ACL ", " EXTENSION ")


def restore_backup(*, folder: Path, manifest: Manifest) -> None:
    """Brings the backup into the database and Redis of this installation, and migrates it.

    The database must be empty, and nobody else connected to it. All keys in Redis are dropped: they
    are of another time. Raises BackupError before anything is changed where that does not hold,
    where the backup is of a later version of Palimpsest or PostgreSQL, where a key is missing that
    its seals need, and where pg_restore cannot read it. A load that fails leaves it empty.
    """
    _check_version(manifest.contents)
    _check_keys(manifest.contents)
    for connection in connections.all():
        connection.close()
    with connections[OWNER].cursor() as cursor:
        _check_alone(cursor)
        _check_server(cursor, manifest.contents)
        cursor.execute(_TABLES)
        (tables,) = cursor.fetchone()
    if tables:
        raise BackupError(
            f"This database is not empty: it has {tables} tables. Restore into an empty one, or,"
            " with the embedded server, into a new home (PALIMPSEST_HOME)."
        )
    listed = run_client("pg_restore", "--list", str(folder / DUMP), names_database=False)
    prepare_database(using=OWNER)
    _load(folder, listed=listed)
    _check_rows(manifest.contents)
    call_command("migrate", "--noinput", verbosity=0)
    _forget_redis()


def findings_of_restored(contents: Contents) -> Iterator[str]:
    """What of the restored log, its seals and heads is not as the manifest says, team by team."""
    for team, state in contents.teams.items():
        head = _head_of(state)
        found = verify_team(team_id=UUID(team), expected=head)
        for finding in found.findings:
            yield f"team {team}: {finding}"
        if found.rows + found.unsealed != state.entries or found.head != head:
            yield f"team {team}: the log does not end where it ended when the backup was made"


def _check_version(contents: Contents) -> None:
    loader = MigrationLoader(None)
    known = set(loader.disk_migrations)
    for migration in loader.disk_migrations.values():
        known.update(migration.replaces)
    later = {tuple(name.split(".", 1)) for name in contents.migrations} - known
    if later:
        first = ".".join(min(later))
        raise BackupError(
            f"The backup is of another or later version: it has the migration {first}, which is"
            " not known here. Restore it with the version that made it."
        )


def _check_keys(contents: Contents) -> None:
    missing = sorted(set(contents.seal_keys) - set(seal_keys()))
    if missing:
        raise BackupError(
            f"The log was sealed with keys that are not set here ({', '.join(missing)}): name them"
            " in SEAL_KEY or SEAL_KEYS_PREVIOUS. Where none was set, it was DJANGO_SECRET_KEY, or"
            " the file secret_key of the home."
        )


def _check_alone(cursor: CursorWrapper) -> None:
    # A connection that was closed, here or by a server that just stopped, is there a moment longer.
    for pause in (0.2, 0.8, 0):
        cursor.execute(_OTHERS)
        (others,) = cursor.fetchone()
        if not others:
            return
        time.sleep(pause)
    raise BackupError(f"{others} other connections use this database: stop web and workers first.")


def _check_server(cursor: CursorWrapper, contents: Contents) -> None:
    cursor.execute("SELECT current_setting('server_version_num')::int")
    made_by, here = contents.postgres // 10000, cursor.fetchone()[0] // 10000
    if made_by > here:
        raise BackupError(
            f"The backup was made with PostgreSQL {made_by} and this server is {here}: restore it"
            " into the same version or a newer one."
        )


def _load(folder: Path, *, listed: str) -> None:
    """Loads the dump in one transaction."""
    kept = [
        line for line in listed.splitlines() if not any(entry in line for entry in _NOT_RESTORED)
    ]
    with connections[OWNER].cursor() as cursor:
        # Each table comes with its own rights; these would be added to them.
        for kind in ("TABLES", "SEQUENCES"):
            cursor.execute(
                f"ALTER DEFAULT PRIVILEGES IN SCHEMA public REVOKE ALL ON {kind} FROM {APP_ROLE}"
            )
    with tempfile.NamedTemporaryFile("w", suffix=".list") as wanted:
        wanted.write("\n".join(kept))
        wanted.flush()
        run_client(
            "pg_restore",
            *("--single-transaction", "--no-owner", "--no-comments"),
            *(f"--use-list={wanted.name}", str(folder / DUMP)),
        )


def _check_rows(contents: Contents) -> None:
    with transaction.atomic(using=OWNER), connections[OWNER].cursor() as cursor:
        restored = contents_of(cursor)
    wrong = sorted(
        table for table, rows in contents.rows.items() if restored.rows.get(table) != rows
    )
    if wrong:
        raise BackupError(f"Rows are missing or too many after the restore: {', '.join(wrong)}.")


def _forget_redis() -> None:
    client = get_redis_connection("default")
    for key in client.scan_iter(f"{settings.REDIS_PREFIX}:*", count=1000):
        client.delete(key)


def _head_of(state: TeamState) -> Head | None:
    if state.seal is None:
        return None
    number, _, digest = state.seal.partition(":")
    return Head(int(number), bytes.fromhex(digest))
