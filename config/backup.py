"""Backups of the database: a dump of one snapshot with a manifest, and the way back."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Literal
from uuid import UUID

from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import connections, transaction
from django.db.backends.utils import CursorWrapper
from django.db.migrations.loader import MigrationLoader
from django_redis import get_redis_connection
from pydantic import BaseModel, ValidationError

from audit.services.seals import Head, seal_keys
from audit.services.verification import verify_team
from config import embedded
from config.embedded.postgres import binaries_folder
from config.launcher import LaunchError, only_one
from config.management.commands.migrate import prepare_database
from config.settings import APP_ROLE

DUMP = "palimpsest.dump"
MANIFEST = "manifest.json"
SEAL_KEYS = "seal_keys"
OWNER = "owner"
# Tables that are not a part of another one and not an extension's.
_TABLES = """
SELECT quote_ident(c.relname) FROM pg_class c
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
    AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass
        AND d.objid = c.oid AND d.deptype = 'e')
ORDER BY c.relname
"""
_TEAMS = """
SELECT t.id, coalesce(l.entries, 0), coalesce(l.last_seq, 0),
    s.number || ':' || encode(s.digest, 'hex')
FROM teams_team t
LEFT JOIN (
    SELECT team_id, count(*) AS entries, max(seq) AS last_seq FROM audit_memorylog GROUP BY team_id
) l ON l.team_id = t.id
LEFT JOIN (
    SELECT DISTINCT ON (team_id) team_id, number, digest FROM audit_seal
    ORDER BY team_id, number DESC
) s ON s.team_id = t.id
ORDER BY t.id
"""
_COUNT_TABLES = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"
_COUNT_OTHERS = """
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND usesysid IS NOT NULL AND pid <> pg_backend_pid()
"""
_SERVER = "SELECT current_setting('server_version_num')::int"
# Entries of the dump that `migrate` makes by itself, for whatever login owns the tables here.
_NOT_RESTORED = (" DEFAULT ACL ", " EXTENSION ")


class BackupError(RuntimeError):
    """A backup cannot be made, used or trusted; the message is for the person at the shell."""


class TeamState(BaseModel):
    """The end of a team's log: its entries, the last number, and its latest seal's head if any."""

    entries: int
    last_seq: int
    seal: str | None


class Contents(BaseModel):
    """Contents of one snapshot of the database.

    `migrations` are `app.name`, `rows` counts by table, `teams` are by id, and `seal_keys` are the
    ids of the keys that the seals were made with, which do not reveal the keys.
    """

    postgres: int
    migrations: list[str]
    rows: dict[str, int]
    teams: dict[str, TeamState]
    seal_keys: list[str]


class Manifest(BaseModel):
    """A backup: who made it and when, what it holds, and the digest of its dump."""

    format: Literal[1] = 1
    version: str
    made_at: str
    dump_bytes: int
    dump_sha256: str
    contents: Contents


def write_manifest(manifest: Manifest, *, folder: Path) -> None:
    """Write the manifest into the backup's folder."""
    (folder / MANIFEST).write_text(manifest.model_dump_json(indent=1) + "\n")


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a backup; raises BackupError where it or the dump was changed or cut."""
    try:
        manifest = Manifest.model_validate_json((folder / MANIFEST).read_bytes())
        found = sha256_of(folder / DUMP)
    except OSError as error:
        raise BackupError(
            f"{folder} is not a backup: {error.filename}: {error.strerror}."
        ) from error
    except ValidationError as error:
        kind, place = error.errors()[0]["type"], error.errors()[0]["loc"]
        if kind == "json_invalid":
            words = f"{folder / MANIFEST} is not JSON: it was changed or cut."
        elif place == ("format",):
            words = "This backup was made by another version of the command."
        else:
            words = f"{folder / MANIFEST} is not a manifest of a backup."
        raise BackupError(words) from error
    if found != manifest.dump_sha256:
        raise BackupError(f"{folder / DUMP} was changed or cut: its digest is not the manifest's.")
    return manifest


def sha256_of(file: Path) -> str:
    """The SHA-256 of a file of any size, in hexadecimal."""
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


@contextmanager
def embedded_servers() -> Iterator[None]:
    """Runs the home's servers for the block, unless they run already or others are configured.

    No other server starts on the home meanwhile, and commands that found these running may finish
    first. Raises CommandError where they cannot be started.
    """
    home = settings.HOME
    owns_redis = not os.environ.get("REDIS_URL")
    if not (settings.HAS_OWN_POSTGRES or owns_redis):
        yield
        return
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    with ExitStack() as held:
        # Held until what another command started is in nobody's use and has stopped.
        in_use = held.enter_context((home / "servers.lock").open("a"))
        fcntl.flock(in_use, fcntl.LOCK_SH)
        start_postgres = settings.HAS_OWN_POSTGRES and embedded.postgres_pid(home) is None
        start_redis = owns_redis and embedded.redis_pid(home) is None
        try:
            if start_postgres or start_redis:
                held.enter_context(only_one(home))
            if start_postgres:
                database = connections[OWNER].get_connection_params()["dbname"]
                socket_folder = embedded.start_postgres(home, database=database)
                for connection in connections.all():
                    connection.settings_dict["HOST"] = str(socket_folder)
            if start_redis:
                embedded.start_redis(home)
        except (LaunchError, embedded.EmbeddedError) as error:
            raise CommandError(f"{error}. Or try again in a moment.") from error
        try:
            yield
        finally:
            connections.close_all()
            if start_postgres or start_redis:
                fcntl.flock(in_use, fcntl.LOCK_EX)
            if start_redis:
                embedded.stop_redis(home)
            if start_postgres:
                embedded.stop_postgres(home)


def run_client(program: str, *arguments: str, names_database: bool = True) -> str:
    """Run pg_dump or pg_restore as the owner; returns its output, raises BackupError."""
    found = None if settings.HAS_OWN_POSTGRES else shutil.which(program)
    if found is None:
        try:
            found = str(binaries_folder() / program)
        except embedded.EmbeddedError as error:
            raise BackupError(
                f"{program} is not installed here: install PostgreSQL's client programs, of the"
                " server's version or a newer one."
            ) from error
    login = connections[OWNER].connection.info
    done = subprocess.run(  # noqa: S603
        # The DSN is without the password.
        [found, *([f"--dbname={login.dsn}"] if names_database else []), *arguments],
        env={**os.environ, "PGPASSWORD": login.password, "LC_ALL": "C"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["no message"]
        errors = [line for line in lines if "error:" in line.lower()]  # the statement follows
        raise BackupError(f"{program} failed: {(errors or lines)[-1]}")
    return done.stdout


def make_backup(*, folder: Path, now: datetime, with_seal_keys: bool = False) -> Manifest:
    """Write dump and manifest into `folder`, which must not exist yet; it appears when whole.

    The owner's login reads one snapshot, so writes go on meanwhile and are not in it.
    `with_seal_keys` adds a file with the secrets that the log's seals are keyed with. Raises
    BackupError where pg_dump fails, and where the folder or something else called
    `<folder>.partial` exists; a failed backup leaves nothing behind.
    """
    if folder.exists():
        raise BackupError(f"{folder} is there already; name a new folder.")
    partial = folder.with_name(f"{folder.name}.partial")
    if partial.exists() and not _is_partial_backup(partial):
        raise BackupError(f"{partial} is in the way and is no unfinished backup; move it.")
    if partial.exists():  # of a backup that was killed
        shutil.rmtree(partial)
    partial.mkdir(mode=0o700, parents=True)
    try:
        manifest = _write(partial, now=now, with_seal_keys=with_seal_keys)
        partial.rename(folder)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    return manifest


def _is_partial_backup(folder: Path) -> bool:
    names = {DUMP, MANIFEST, SEAL_KEYS}
    return (
        folder.is_dir()
        and not folder.is_symlink()
        and all(file.name in names for file in folder.iterdir())
    )


def _write(partial: Path, *, now: datetime, with_seal_keys: bool) -> Manifest:
    with transaction.atomic(using=OWNER), connections[OWNER].cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        # Rather an error than rows left out, and no end of the snapshot while pg_dump works.
        cursor.execute("SET LOCAL row_security = off")
        cursor.execute("SET LOCAL statement_timeout = 0")
        cursor.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
        cursor.execute("SELECT pg_export_snapshot()")
        (snapshot,) = cursor.fetchone()
        contents = contents_of(cursor)
        run_client(
            "pg_dump",
            *("--format=custom", f"--snapshot={snapshot}", f"--file={partial / DUMP}"),
            "--lock-wait-timeout=60s",  # a migration under way holds it up no longer
        )
    if with_seal_keys:
        keys = partial / SEAL_KEYS
        keys.touch(mode=0o600)
        keys.write_text("".join(f"{key}\n" for key in settings.SEAL_KEYS))
    manifest = Manifest(
        version=str(settings.SPECTACULAR_SETTINGS["VERSION"]),
        made_at=now.isoformat(timespec="seconds"),
        dump_bytes=(partial / DUMP).stat().st_size,
        dump_sha256=sha256_of(partial / DUMP),
        contents=contents,
    )
    write_manifest(manifest, folder=partial)
    return manifest


def contents_of(cursor: CursorWrapper) -> Contents:
    """Contents of the database in the cursor's transaction, by a login that owns the tables."""
    cursor.execute(_TABLES)
    rows = {}
    for (table,) in cursor.fetchall():
        cursor.execute(f"SELECT count(*) FROM public.{table}")  # noqa: S608 - quoted by PostgreSQL
        rows[table] = cursor.fetchone()[0]
    cursor.execute("SELECT app || '.' || name FROM django_migrations ORDER BY 1")
    migrations = [name for (name,) in cursor.fetchall()]
    cursor.execute(_TEAMS)
    teams = {
        str(team): TeamState(entries=entries, last_seq=last, seal=seal)
        for team, entries, last, seal in cursor.fetchall()
    }
    cursor.execute("SELECT DISTINCT key_id FROM audit_seal ORDER BY 1")
    keys = [key_id for (key_id,) in cursor.fetchall()]
    cursor.execute(_SERVER)
    (postgres,) = cursor.fetchone()
    return Contents(
        postgres=postgres, migrations=migrations, rows=rows, teams=teams, seal_keys=keys
    )


def restore_backup(*, folder: Path, manifest: Manifest) -> None:
    """Bring the backup into the database and Redis of this installation, and migrate it.

    The database must be empty, and nobody else connected to it. All keys in Redis are dropped: they
    are of another time. Raises BackupError before anything is changed where that does not hold,
    where the backup is of a later version of Palimpsest or PostgreSQL, where a key is missing that
    its seals need, and where pg_restore cannot read it. A load that fails leaves it empty.
    """
    _check_version(manifest.contents)
    missing = sorted(set(manifest.contents.seal_keys) - set(seal_keys()))
    if missing:
        raise BackupError(
            f"The log was sealed with keys that are not set here ({', '.join(missing)}): name them"
            " in SEAL_KEY or SEAL_KEYS_PREVIOUS. Where none was set, it was DJANGO_SECRET_KEY, or"
            " the file secret_key of the home."
        )
    connections.close_all()
    with connections[OWNER].cursor() as cursor:
        _check_database(cursor, manifest.contents)
    listed = run_client("pg_restore", "--list", str(folder / DUMP), names_database=False)
    prepare_database(using=OWNER)
    _load(folder, listed=listed)
    with transaction.atomic(using=OWNER), connections[OWNER].cursor() as cursor:
        restored = contents_of(cursor).rows
    expected = manifest.contents.rows
    wrong = sorted(table for table, rows in expected.items() if restored.get(table) != rows)
    if wrong:
        raise BackupError(f"Rows are missing or too many after the restore: {', '.join(wrong)}.")
    call_command("migrate", "--noinput", verbosity=0)
    client = get_redis_connection("default")
    for key in client.scan_iter(f"{settings.REDIS_PREFIX}:*", count=1000):
        client.delete(key)


def findings_of_restored(contents: Contents) -> Iterator[str]:
    """Differences of the restored log, its seals and heads from the manifest, team by team."""
    for team, state in contents.teams.items():
        head = Head.parse(state.seal) if state.seal else None
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


def _check_database(cursor: CursorWrapper, contents: Contents) -> None:
    # A connection that was closed, here or by a server that just stopped, is there a moment longer.
    for pause in (0.2, 0.8, 0):
        cursor.execute(_COUNT_OTHERS)
        (others,) = cursor.fetchone()
        if not others:
            break
        time.sleep(pause)
    else:
        raise BackupError(
            f"{others} other connections use this database: stop web and workers first."
        )
    cursor.execute(_SERVER)
    made_by, here = contents.postgres // 10000, cursor.fetchone()[0] // 10000
    if made_by > here:
        raise BackupError(
            f"The backup was made with PostgreSQL {made_by} and this server is {here}: restore it"
            " into the same version or a newer one."
        )
    cursor.execute(_COUNT_TABLES)
    (tables,) = cursor.fetchone()
    if tables:
        raise BackupError(
            f"This database is not empty: it has {tables} tables. Restore into an empty one, or,"
            " with the embedded server, into a new home (PALIMPSEST_HOME)."
        )


def _load(folder: Path, *, listed: str) -> None:
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
