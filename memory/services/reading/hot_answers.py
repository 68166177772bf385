"""The hot tier: answers kept in Redis, given again for as long as nothing of the team has changed.

An answer is kept with the revision of the team that was read before it was made, and given again
only in a transaction that still sees that revision (audit/sql/team_revision.sql): an acknowledged
write is in every answer after it. It is kept under everything that decides it, the viewer with the
categories of its agent first of all, so that nobody is given what was made for somebody else. Its
memories are kept with it, as they were read: whatever of them is shown moves the revision when it
changes, but for how often and when they were read. That, and the recency of the memories, drifts
for no longer than `HOT_ANSWER_SECONDS`, and not into another day.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar, cast
from uuid import UUID

import orjson
from django.db import connection

from memory.clients.quick_redis import quick_redis
from memory.domain.plain_json import Foreign, from_plain, shape_of
from memory.domain.viewer import Viewer
from memory.models import Contradiction
from memory.selectors.contradictions import contradictions_visible_to
from memory.selectors.revisions import Revision, committed_revision, team_revision
from memory.selectors.showing.kept_rows import ROW_SHAPE, row_as_json, rows_as_kept
from memory.selectors.showing.shown_rows import ShownRow
from memory.services.reading.hot_keys import (
    HotKey,
    KeptRevision,
    holds,
    is_of_today,
    kept_revision,
    put,
)
from teams.tenancy import team_scope

_T = TypeVar("_T")
# Of a contradiction that is not stored: all that it says, apart from its memories.
_SEEN = ("strategy", "judge", "verdict", "reason")


@dataclass(frozen=True, slots=True)
class Held(Generic[_T]):
    """An answer that was kept, and the ids of the memories it shows."""

    answer: _T
    memory_ids: list[str]


def held_answer(key: HotKey | None, kind: type[_T]) -> Held[_T] | None:
    """The answer that is kept under the key and still holds; call it outside of any scope.

    Its rows are made when they are looked at, of what was read of them under the same revision.
    """
    held = _held(key) if key is not None else None
    if key is None or held is None or not is_of_today(held.at, key):
        return None
    if held.shape != _shape(kind):
        # What another release kept.
        return None
    viewer = key.viewer
    known = _known(held, viewer)
    if known is None:
        return None
    rows = _Rows(viewer.team_id, held.memories)
    foreign: Foreign = {
        ShownRow: rows.row,
        Contradiction: lambda data: _contradiction(data, known, rows, viewer),
    }
    try:
        answer = cast(_T, from_plain(kind, held.answer, foreign))
    except (LookupError, TypeError, ValueError):
        return None
    return Held(answer, [row[0] for row in held.memories])


def keep_answer(
    key: HotKey | None, *, answer: object, revision: Revision | None, read_messages: bool = False
) -> None:
    """Keep an answer that was made after `revision` was read, in the same transaction.

    `read_messages` says that messages may have had a part in it. Without a key or a revision
    nothing is kept, and nothing while Redis is away.
    """
    if key is None or revision is None:
        return
    named = _Named()
    written = orjson.dumps(answer, default=named.write)
    kept = {
        "answer": orjson.Fragment(written),
        "memories": [orjson.Fragment(row_as_json(row)) for row in named.rows.values()],
        "contradictions": list(named.contradictions),
        "revision": kept_revision(revision, read_messages=read_messages),
        "at": key.now,
        "shape": _shape(type(answer)),
    }
    put(key, orjson.dumps(kept))


def _shape(kind: type) -> str:
    return f"{shape_of(cast(Hashable, kind))} {ROW_SHAPE}"


@dataclass(frozen=True)
class _Kept:
    """What Redis holds: the answer, the rows of its memories, and what it depends on.

    `shape` names the fields that `answer` holds.
    """

    answer: Any  # Any: what JSON holds
    memories: list[list[Any]]
    contradictions: list[str]
    revision: KeptRevision
    at: str
    shape: str


class _Named:
    """The rows of an answer that is written as JSON, in which they are named and not copied."""

    def __init__(self) -> None:
        self.rows: dict[UUID, ShownRow] = {}
        self.contradictions: dict[str, None] = {}

    def write(self, value: object) -> object:
        """What stands in the JSON for what it does not know; TypeError for what nobody knows."""
        if isinstance(value, ShownRow):
            self.rows[value.id] = value
            return value.id
        if isinstance(value, Contradiction):
            return self._contradiction(value)
        raise TypeError(f"{type(value).__name__} cannot be written as JSON")

    def _contradiction(self, row: Contradiction) -> object:
        if row.pk is not None:
            self.contradictions[str(row.pk)] = None
            return row.pk
        # Both of its memories are among those of the answer.
        return {
            "memory_a": row.memory_a_id,
            "memory_b": row.memory_b_id,
            "detected_at": row.detected_at,
            **{name: getattr(row, name) for name in _SEEN},
        }


class _Rows:
    """The rows of a kept answer, all made when the first one is asked for."""

    def __init__(self, team_id: UUID, kept: list[list[Any]]) -> None:
        self._team_id, self._kept = team_id, kept
        self._made: dict[UUID, ShownRow] = {}

    def row(self, name: str) -> ShownRow:
        """The one of that id."""
        if not self._made:
            self._made = rows_as_kept(team_id=self._team_id, rows=self._kept)
        return self._made[UUID(name)]


def _held(key: HotKey) -> _Kept | None:
    value = quick_redis().ask(lambda client: client.get(key.name))
    if value is None:
        return None
    try:
        return _Kept(**orjson.loads(cast(bytes, value)))
    except (TypeError, ValueError):
        return None


def _known(held: _Kept, viewer: Viewer) -> dict[str, Contradiction] | None:
    """The contradictions of a kept answer that still holds; None for one that does not."""
    if not held.contradictions and not connection.in_atomic_block:
        revision = committed_revision(team_id=viewer.team_id)
        return {} if revision is not None and holds(held.revision, revision) else None
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        revision = team_revision(team_id=viewer.team_id)
        if revision is None or not holds(held.revision, revision):
            return None
        known = _contradictions(viewer, held.contradictions)
    return known if len(known) == len(held.contradictions) else None


def _contradictions(viewer: Viewer, ids: list[str]) -> dict[str, Contradiction]:
    if not ids:
        return {}
    return {str(row.pk): row for row in contradictions_visible_to(viewer).filter(pk__in=ids)}


def _contradiction(
    data: Any, known: dict[str, Contradiction], rows: _Rows, viewer: Viewer
) -> Contradiction:
    if isinstance(data, str):
        return known[data]
    return Contradiction(
        id=None,
        team_id=viewer.team_id,
        memory_a=rows.row(data["memory_a"]).memory,
        memory_b=rows.row(data["memory_b"]).memory,
        detected_at=datetime.fromisoformat(data["detected_at"]),
        **{name: data[name] for name in _SEEN},
    )
