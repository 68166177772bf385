"""Makes a backup while the server runs: dump and manifest tell of one snapshot of the database."""

from __future__ import annotations

import os
import shutil
from datetime import datetime
from pathlib import Path

from django.conf import settings
from django.db import connections, transaction
from django.db.backends.utils import CursorWrapper

from config.backup.manifest import (
    DUMP,
    MANIFEST,
    SEAL_KEYS,
    BackupError,
    Contents,
    Manifest,
    TeamState,
    sha256_of,
    write_manifest,
)
from config.backup.programs import run_client

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


def make_backup(*, folder: Path, now: datetime, with_seal_keys: bool = False) -> Manifest:
    """Write dump and manifest into `folder`, which must not exist yet; it appears when whole.

    The owner's login reads one snapshot, so writes go on meanwhile and are not in it.
    `with_seal_keys` adds a file with the secrets that the log's seals are keyed with. Raises
    BackupError where pg_dump fails, and where the folder or something else called
    `<folder>.partial` is there; a backup that fails leaves nothing behind.
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
        _write_private(partial / SEAL_KEYS, "".join(f"{key}\n" for key in settings.SEAL_KEYS))
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
    """What the cursor's transaction sees of the database, by a login that owns the tables."""
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
    cursor.execute("SELECT current_setting('server_version_num')::int")
    return Contents(
        postgres=cursor.fetchone()[0],
        migrations=migrations,
        rows=rows,
        teams=teams,
        seal_keys=keys,
    )


def _write_private(file: Path, text: str) -> None:
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as opened:
        opened.write(text)
