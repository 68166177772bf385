"""Rows of memories that this process has read, for as long as they are the latest versions.

Questions of one conversation find nearly the same memories. What PostgreSQL says of a row's version
(the transaction that wrote it and where it stands) changes with every change of the row and comes
with each search, so a row is read once and then only when it has changed.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import orjson

# The xmin and ctid of a memory, and those of its usage or None.
Version = tuple[bytes, bytes, bytes | None, bytes | None]
# Some six kilobytes each.
MOST_ROWS = 3_000
# A row is read anew after so long, so that what was erased leaves this process too.
KNOWN_SECONDS = 600.0


@dataclass(slots=True)
class KnownRow:
    """The columns of a memory and of its usage, and what was written of them, once for all answers.

    `kept` are columns as JSON without the last bracket; `shown` is what somebody else made of the
    row, under what else it depends on.
    """

    version: Version
    values: tuple[Any, ...]  # Any: what the columns hold
    kept: bytes | None = None
    shown: tuple[Hashable, bytes] | None = None
    read_at: float = field(default_factory=time.monotonic)

    def as_json(self, columns: Sequence[Any]) -> bytes:
        """The columns as JSON, the last bracket left away; written once."""
        if self.kept is None:
            self.kept = orjson.dumps(columns, default=str)[:-1]
        return self.kept


@dataclass(slots=True)
class KnownRows:
    """The rows read last; thread-safe."""

    most: int = MOST_ROWS
    # By the numbers of team and memory: an id takes longer to be looked up.
    _rows: OrderedDict[tuple[int, int], KnownRow] = field(default_factory=OrderedDict)
    _changing: threading.Lock = field(default_factory=threading.Lock)

    def latest(self, *, team_id: UUID, versions: Mapping[UUID, Version]) -> dict[UUID, KnownRow]:
        """Of the memories those whose row is known in that version."""
        found = {}
        since, team = time.monotonic() - KNOWN_SECONDS, team_id.int
        with self._changing:
            for memory_id, version in versions.items():
                key = (team, memory_id.int)
                row = self._rows.get(key)
                if row is not None and row.version == version and row.read_at > since:
                    self._rows.move_to_end(key)
                    found[memory_id] = row
        return found

    def learn(self, *, team_id: UUID, memory_id: UUID, row: KnownRow) -> None:
        """Know the row from now on, in the place of one that was read the longest time ago."""
        with self._changing:
            self._rows[team_id.int, memory_id.int] = row
            self._rows.move_to_end((team_id.int, memory_id.int))
            while len(self._rows) > self.most or self._is_old(next(iter(self._rows.values()))):
                self._rows.popitem(last=False)

    def _is_old(self, row: KnownRow) -> bool:
        return row.read_at < time.monotonic() - KNOWN_SECONDS
