"""Everything of a team, line by line, as it stood at one moment."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any
from uuid import UUID

from django.apps import apps
from django.conf import settings
from django.db import connection
from django.db.backends.utils import CursorWrapper
from django.db.models import Model

from audit.models import Seal
from memory.domain.rendering import on_one_line
from memory.models import EmbeddingState
from memory.satellite import satellites
from teams.errors import NotFoundError
from teams.models import Team
from teams.tenancy import team_scope

FORMAT = 1
# The first line of an export has it.
MARK = "palimpsest_export"
# The kernel's tables that stay behind: credentials, logins of the installation, and what only its
# servers need.
_KEPT_BACK = {
    "audit_writtenbatch": "batches of counts that were written down already",
    "memory_searchgraph": "the approximate index, which is built anew",
    "routing_spendreservation": "money held for calls under way",
    "teams_apikey": "digests of API keys: issue new ones",
    "teams_idempotentrequest": "answers kept for a day for whoever asks again",
    "teams_membership": "logins of the admin, which are the installation's",
}
_KEPT_BACK_COLUMNS = {("routing_provider", "encrypted_key")}
# Tables that leave with a move nevertheless: clients go on with the keys that they have, and what
# they send again is answered as before.
_OF_MOVES = {"audit_writtenbatch", "teams_apikey", "teams_idempotentrequest"}
# Expressions for columns of an imported row in place of its value: its place in an index that stays
# behind, the freeze of its move, and the lease of a request that this installation does not run.
RESET = {
    "memory_searchentry": {"graph_dimensions": "0", "graph_number": "0"},
    "teams_idempotentrequest": {"lease_until": "NULL"},
    "teams_team": {"frozen_at": "NULL", "exported_at": "NULL"},
}
_COLUMNS = """
SELECT c.relname, array_agg(a.attname::text ORDER BY a.attnum)
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
WHERE c.relnamespace = 'public'::regnamespace AND c.relname = ANY (%s)
    AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
GROUP BY c.relname
"""


_BATCH = 500
# The order of the primary key, in which an index has them, so that nothing is sorted.
_KEY = """
SELECT string_agg(format('t.%%I', a.attname), ', ' ORDER BY k.place)
FROM pg_index i, unnest(i.indkey::int2[]) WITH ORDINALITY AS k (number, place), pg_attribute a
WHERE i.indrelid = %s::regclass AND i.indisprimary
    AND a.attrelid = i.indrelid AND a.attnum = k.number
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamExport:
    """Iterates over lines of JSON: what it is, each row of each table, and last a manifest.

    All of it is of one snapshot, in one transaction that lasts as long as the lines are read;
    memory does not grow with the team. The manifest counts the rows of each table, with the
    SHA-256 of its lines, and names the log's latest seal; a stream without it was cut off. That of
    a move has API keys, kept answers and providers' encrypted keys as well. Raises NotFoundError
    for a team that is not there.
    """

    team_id: UUID
    actor: str
    now: datetime
    is_move: bool = False

    def __iter__(self) -> Iterator[bytes]:
        with team_scope(team_ids=[self.team_id], actor=self.actor, is_snapshot=True):
            with connection.cursor() as cursor:
                cursor.execute("SET LOCAL statement_timeout = 0")
                columns = columns_of(cursor, is_move=self.is_move)
            yield _line(self._header(columns))
            tables: dict[str, dict[str, object]] = {}
            for table, names in columns.items():
                digest, rows = hashlib.sha256(), 0
                for line in self._rows(table, names):
                    digest.update(line)
                    rows += 1
                    yield line
                tables[table] = {"rows": rows, "sha256": digest.hexdigest()}
            yield _line({"manifest": {"tables": tables, **self._seal()}})

    def _header(self, columns: dict[str, list[str]]) -> dict[str, object]:
        team = Team.objects.filter(pk=self.team_id).first()
        if team is None:
            raise NotFoundError("There is no such team.")
        embeddings = EmbeddingState.objects.first()
        return {
            MARK: FORMAT,
            "version": str(settings.SPECTACULAR_SETTINGS["VERSION"]),
            "exported_at": self.now.isoformat(),
            "is_move": self.is_move,
            "team": {"id": str(team.pk), "slug": team.slug},
            "embeddings": embeddings
            and {"model": embeddings.model, "dimensions": embeddings.dimensions},
            "columns": columns,
        }

    def _rows(self, table: str, columns: list[str]) -> Iterator[bytes]:
        quoted = connection.ops.quote_name
        with connection.cursor() as cursor:
            cursor.execute(_KEY, [table])
            (key,) = cursor.fetchone()
        listed = ", ".join(f"t.{quoted(name)}" for name in columns)
        # The names are of the catalog; a row of them alone leaves out what is computed.
        query = (
            f"SELECT row_to_json(r)::text FROM (SELECT {listed} FROM {quoted(table)} t"  # noqa: S608
            f" WHERE t.{team_column(table)} = %s ORDER BY {key}) AS r"
        )
        before = f'{{"table": "{table}", "row": '.encode()
        with connection.chunked_cursor() as cursor:
            cursor.execute(query, [self.team_id])
            while rows := cursor.fetchmany(_BATCH):
                for (row,) in rows:
                    yield before + on_one_line(row).encode() + b"}\n"

    def _seal(self) -> dict[str, Any]:  # Any: JSON
        """The head of the log's seals, as `verify_log` prints it, and the keys that they need."""
        seals = Seal.objects.filter(team_id=self.team_id)
        head = seals.order_by("-number").values_list("number", "digest").first()
        return {
            "seal": head and f"{head[0]}:{bytes(head[1]).hex()}",
            "seal_keys": sorted(set(seals.order_by().values_list("key_id", flat=True))),
        }


def write_export(lines: TeamExport, file: Path) -> int:
    """Writes the lines where only their owner may read them; returns how many they are.

    The file appears when it is whole. Raises FileExistsError, and OSError.
    """
    if file.exists():
        raise FileExistsError(f"{file} is there already; name a new file.")
    partial = file.with_name(f"{file.name}.partial")
    count = 0
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        with os.fdopen(os.open(partial, flags, 0o600), "wb") as opened:
            for line in lines:
                opened.write(line)
                count += 1
            opened.flush()
            os.fsync(opened.fileno())
        partial.rename(file)
        folder = os.open(file.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    return count


def _line(value: dict[str, object]) -> bytes:
    return f"{on_one_line(json.dumps(value, ensure_ascii=False))}\n".encode()


def team_tables() -> list[str]:
    """The tables with rows of teams, each after those it points to."""
    models: list[type[Model]] = [
        Team,
        *(
            each
            for each in apps.get_models()
            if any(field.name == "team" for field in each._meta.concrete_fields)
        ),
    ]
    before = {each: _points_to(each) & set(models) - {each} for each in models}
    return [each._meta.db_table for each in TopologicalSorter(before).static_order()]


def exported_tables(*, is_move: bool = False) -> list[str]:
    """The tables of an export, each after those it points to."""
    behind = set(kept_back(is_move=is_move))
    return [table for table in team_tables() if table not in behind]


def kept_back(*, is_move: bool = False) -> dict[str, str]:
    """Returns the tables of teams that an export leaves out, each with the reason."""
    tables = dict(_KEPT_BACK)
    for each in satellites():
        tables |= each.kept_back
    return {table: why for table, why in tables.items() if not (is_move and table in _OF_MOVES)}


def columns_of(cursor: CursorWrapper, *, is_move: bool = False) -> dict[str, list[str]]:
    """The columns of each exported table that are written, not computed, and not kept back."""
    tables = exported_tables(is_move=is_move)
    cursor.execute(_COLUMNS, [tables])
    found: dict[str, list[str]] = dict(cursor.fetchall())
    return {
        table: [name for name in found[table] if is_move or (table, name) not in _KEPT_BACK_COLUMNS]
        for table in tables
    }


def team_column(table: str) -> str:
    """The column with the id of a row's team."""
    return "id" if table == Team._meta.db_table else "team_id"


def _points_to(model: type[Model]) -> set[type[Model]]:
    related = (field.related_model for field in model._meta.concrete_fields)
    return {each for each in related if isinstance(each, type) and issubclass(each, Model)}
