"""Brings a team's export into an installation that does not have the team."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import IO, Any
from uuid import UUID

import psycopg
from django.db import DatabaseError, connections, transaction
from django.db.backends.utils import CursorWrapper

from audit.services.seals import Head, seal_keys
from memory.models import EmbeddingState
from memory.satellites.transfer.team_export import (
    FORMAT,
    MARK,
    RESET,
    columns_of,
    exported_tables,
    team_column,
)
from teams.services.moves import OWNER, past_triggers

_MAX_LINE_BYTES = 256 * 2**20
# Numbers of the installation that the team's next rows must lie behind.
_SEQUENCES = {"audit_memorylog": "seq", "audit_logcommit": "id"}
_STAGE = "CREATE TEMPORARY TABLE brought (place text, line jsonb) ON COMMIT DROP"


class TeamImportError(ValueError):
    """An export cannot be imported; the message is for the person at the shell."""


@dataclass(frozen=True, slots=True)
class ImportedTeam:
    """The imported team, its number of rows by table, and the head of its seals, if any.

    `other_model` is the model of its vectors where this installation searches by another one.
    With `is_move` its keys came along.
    """

    team_id: UUID
    slug: str
    rows: dict[str, int]
    head: Head | None
    other_model: str | None
    is_move: bool


def import_team(file: Path) -> ImportedTeam:
    """Write the team of an export, with all ids, its log and its seals, in one transaction.

    The owner's login writes the rows as they were, past the triggers that would log and number
    them anew. Raises TeamImportError for a file that is broken, cut, changed or of a later version,
    a team that is here already, and seals whose keys are not set here; nothing is imported then.
    Memory does not grow with the file.
    """
    with transaction.atomic(using=OWNER), connections[OWNER].cursor() as cursor:
        cursor.execute("SET LOCAL statement_timeout = 0")
        cursor.execute("SET LOCAL lock_timeout = '60s'")
        try:
            with file.open("rb") as lines:
                stage = _Stage(cursor, lines)
                stage.read()
            _check_new(cursor, stage)
            with past_triggers(stage.written()):
                _write(cursor, stage)
        except (DatabaseError, psycopg.DatabaseError) as error:
            raise TeamImportError(f"The database refused it: {str(error).strip()}") from error
        return ImportedTeam(
            team_id=UUID(stage.team_id),
            slug=stage.slug,
            rows=dict(stage.rows),
            head=stage.head(),
            other_model=_take_embeddings(stage.header["embeddings"]),
            is_move=bool(stage.header.get("is_move")),
        )


class _Stage:
    """Checks an export line by line and copies its rows into a table of the transaction."""

    def __init__(self, cursor: CursorWrapper, lines: IO[bytes]) -> None:
        self.cursor = cursor
        self.lines = lines
        self.number = 0
        self.rows: Counter[str] = Counter()
        self.header: dict[str, Any] = {}  # Any: JSON that is checked as it is read
        self.manifest: dict[str, Any] = {}
        self.tables: list[str] = []
        self.team_id = self.slug = ""
        self.is_back = False

    def read(self) -> None:
        """Raise TeamImportError for the first thing that is wrong, naming its line."""
        self._read_header()
        self.cursor.execute(_STAGE)
        digests = {table: hashlib.sha256() for table in self.columns}
        copying: Any = self.cursor.copy("COPY brought (place, line) FROM STDIN")  # Any: psycopg's
        with copying as copy:
            for line, table in self._rows():
                digests[table].update(line)
                self.rows[table] += 1
                # As it is, since PostgreSQL keeps numbers that Python would round.
                copy.write_row((table, line.decode()))
        try:
            told = {table: self.manifest["tables"][table] for table in digests}
            sums = {table: (each["rows"], each["sha256"]) for table, each in told.items()}
            missing = set(self.manifest["seal_keys"]) - set(seal_keys())
            self.head()
        except (KeyError, TypeError, ValueError) as error:
            raise self._error("this is no manifest of an export") from error
        for table, digest in digests.items():
            if sums[table] != (self.rows[table], digest.hexdigest()):
                raise self._error(
                    f"the lines of {table} are not those that were exported: the manifest has"
                    f" {sums[table][0]} with another checksum"
                )
        if missing:
            raise TeamImportError(
                f"The log was sealed with keys that are not set here ({', '.join(sorted(missing))})"
                ": name them in SEAL_KEYS_PREVIOUS."
            )

    def written(self) -> list[str]:
        """The tables of the export, each after those it points to."""
        return [table for table in self.tables if table in self.columns]

    def head(self) -> Head | None:
        if self.manifest["seal"] is None:
            return None
        number, _, digest = self.manifest["seal"].partition(":")
        return Head(int(number), bytes.fromhex(digest))

    def _read_header(self) -> None:
        found = self._next()
        header = found[1] if found else {}
        if header.get(MARK) != FORMAT:
            raise TeamImportError(
                "This is no export of a team, or one of a later version: `manage.py export_team`"
                " writes them, and other files are for `manage.py import_memories`."
            )
        try:
            self.team_id, self.slug = str(UUID(header["team"]["id"])), str(header["team"]["slug"])
            self.columns: dict[str, list[str]] = dict(header["columns"])
            header["embeddings"]
        except (KeyError, TypeError, ValueError) as error:
            raise self._error("this is no beginning of an export") from error
        is_move = bool(header.get("is_move"))
        self.tables = exported_tables(is_move=is_move)
        try:
            known = columns_of(self.cursor, is_move=is_move)
        except KeyError as missing:
            raise TeamImportError(
                f"The table {missing} is not there yet: run `manage.py migrate` first."
            ) from missing
        later = {
            f"{table}.{name}"
            for table, names in self.columns.items()
            for name in names
            if name not in known.get(table, ())
        }
        if later:
            raise TeamImportError(
                f"The export has {min(later)}, which is not known here: import it with the version"
                f" that made it ({header.get('version')}) or a later one."
            )
        self.header = header

    def _rows(self) -> Iterator[tuple[bytes, str]]:
        while (found := self._next()) is not None:
            line, value = found
            if "manifest" in value:
                self.manifest = value["manifest"]
                if self._next() is not None:
                    raise self._error("nothing may follow the manifest")
                return
            table, row = value.get("table"), value.get("row")
            if not isinstance(table, str) or not isinstance(row, dict):
                raise self._error("it is no row of a table")
            if set(row) != set(self.columns.get(table, ())):
                raise self._error(f"its columns are not those of {table}")
            if row[team_column(table)] != self.team_id:
                raise self._error("the row is of another team")
            yield line, table
        raise self._error("the file ends without a manifest: it was cut off")

    def _next(self) -> tuple[bytes, dict[str, Any]] | None:  # Any: JSON
        self.number += 1
        line = self.lines.readline(_MAX_LINE_BYTES)
        if not line:
            return None
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise self._error(f"it is no JSON ({error})") from error
        if not isinstance(value, dict):
            raise self._error("it is no object")
        return line, value

    def _error(self, words: str) -> TeamImportError:
        return TeamImportError(f"Line {self.number}: {words}. Nothing was imported.")


def _check_new(cursor: CursorWrapper, stage: _Stage) -> None:
    """Raises TeamImportError where the team is here, unless it moved away and now comes back."""
    cursor.execute(
        "SELECT id, slug, moved_to, frozen_at FROM teams_team WHERE id = %s OR slug = %s",
        [stage.team_id, stage.slug],
    )
    for team_id, slug, moved_to, frozen_at in cursor.fetchall():
        if not moved_to or str(team_id) != stage.team_id:
            raise TeamImportError(
                f"There is a team '{slug}' here already. Import it into an installation that does"
                " not have it."
            )
        if datetime.fromisoformat(stage.header["exported_at"]) <= frozen_at:
            raise TeamImportError(
                f"This is the file with which the team '{slug}' left, or an older one. Export it"
                " where it is now."
            )
        stage.is_back = True


def _write(cursor: CursorWrapper, stage: _Stage) -> None:
    quoted = connections[OWNER].ops.quote_name
    if stage.is_back:
        # What told clients where it was meanwhile (moving.py).
        cursor.execute("DELETE FROM teams_apikey WHERE team_id = %s", [stage.team_id])
        cursor.execute("DELETE FROM teams_team WHERE id = %s", [stage.team_id])
    for table in stage.written():
        names = stage.columns[table]
        values = [RESET.get(table, {}).get(name, f"r.{quoted(name)}") for name in names]
        # Whole tables at a time, as rows of one may point to each other.
        cursor.execute(
            f"INSERT INTO {quoted(table)} ({', '.join(map(quoted, names))})"  # noqa: S608
            f" OVERRIDING SYSTEM VALUE SELECT {', '.join(values)}"
            f" FROM brought b, jsonb_populate_record(NULL::{quoted(table)}, b.line->'row') r"
            " WHERE b.place = %s",
            [table],
        )
    for table, column in _SEQUENCES.items():
        cursor.execute(
            f"SELECT setval(s, greatest(nextval(s), (SELECT max({column}) FROM {table}"  # noqa: S608
            " WHERE team_id = %s))) FROM pg_get_serial_sequence(%s, %s) s",
            [stage.team_id, table, column],
        )


def _take_embeddings(given: dict[str, Any] | None) -> str | None:  # Any: JSON
    """Search by the model of the team's vectors where nothing is searched yet.

    Returns that model where the installation has another one.
    """
    if given is None:
        return None
    state = EmbeddingState.objects.using(OWNER).first()
    if state is None:
        EmbeddingState.objects.using(OWNER).create(**given)
        return None
    return None if state.model == given["model"] else str(given["model"])
