"""Everything of a team, line by line, as it stood at one moment."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connection

from audit.models import Seal
from memory.domain.rendering import on_one_line
from memory.models import EmbeddingState
from memory.satellites.transfer.tables import FORMAT, MARK, columns_of, exported_tables, team_column
from teams.errors import NotFoundError
from teams.models import Team
from teams.tenancy import team_scope

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
    SHA-256 of its lines, and names the log's latest seal; a stream without it was cut off. Raises
    NotFoundError for a team that is not there.
    """

    team_id: UUID
    actor: str
    now: datetime

    def __iter__(self) -> Iterator[bytes]:
        with team_scope(team_ids=[self.team_id], actor=self.actor):
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
                cursor.execute("SET LOCAL statement_timeout = 0")
                columns = columns_of(cursor, exported_tables())
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


def _line(value: dict[str, object]) -> bytes:
    return f"{on_one_line(json.dumps(value, ensure_ascii=False))}\n".encode()
