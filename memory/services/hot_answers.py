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

import hashlib
import json
import logging
from collections.abc import Hashable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Generic, TypeVar, cast
from uuid import UUID

from django.conf import settings
from django.db import connection

from memory.clients.quick_redis import quick_redis
from memory.clients.tools import Tools
from memory.domain.plain_json import Foreign, as_plain, from_plain, shape_of
from memory.domain.viewer import Viewer
from memory.models import Contradiction, Memory
from memory.selectors.contradictions import contradictions_visible_to
from memory.selectors.loading import ROW_SHAPE, memories_of_rows, row_as_json
from memory.selectors.revisions import Revision, committed_revision, team_revision
from teams.tenancy import team_scope

logger = logging.getLogger(__name__)

_T = TypeVar("_T")
# A longer answer is made again rather than kept: Redis is not only ours.
MOST_BYTES = 256 * 1024
# Of a contradiction that is not stored: all that it says, apart from its memories.
_SEEN = ("strategy", "judge", "verdict", "reason")


@dataclass(frozen=True, slots=True)
class HotKey:
    """Where an answer is kept, and for whom."""

    name: str
    viewer: Viewer
    now: datetime


def hot_key(
    *, kind: str, viewer: Viewer, tools: Tools, now: datetime, parts: dict[str, object]
) -> HotKey | None:
    """The key of an answer that `parts` decide together with the viewer and the models.

    None where nothing is kept. Raises TypeError for a part that cannot be written down.
    """
    model = tools.embedding_model
    if not settings.HOT_ANSWER_SECONDS or model is None:
        return None
    decisive = {
        "kind": kind,
        "agent": viewer.agent_id,
        "end_user": viewer.end_user_id,
        "project": viewer.project_id,
        "categories": sorted(viewer.allowed_categories),
        "embedding_model": model,
        "judge": tools.judge.name,
        **parts,
    }
    written = json.dumps(as_plain(decisive, {}), sort_keys=True)
    digest = hashlib.sha256(written.encode()).hexdigest()
    return HotKey(f"{settings.REDIS_PREFIX}:hot:{viewer.team_id}:{digest}", viewer, now)


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
    if key is None or held is None or not _is_of_today(held.at, key.now):
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
        Memory: rows.memory,
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
    written = _Written()
    kept = _Kept(
        answer=written.plain(answer),
        memories=[],
        contradictions=[str(each) for each in written.contradictions],
        revision=[revision.memories, revision.messages if read_messages else None],
        at=key.now.isoformat(),
        shape=_shape(type(answer)),
    )
    rows = ", ".join(map(row_as_json, written.memories.values()))
    others = {name: value for name, value in vars(kept).items() if name != "memories"}
    value = f'{{"memories": [{rows}], {json.dumps(others, default=str)[1:]}'.encode()
    if len(value) <= MOST_BYTES:
        seconds = settings.HOT_ANSWER_SECONDS
        quick_redis().ask(lambda client: client.set(key.name, value, ex=seconds))


def _shape(kind: type) -> str:
    return f"{shape_of(cast(Hashable, kind))} {ROW_SHAPE}"


@dataclass(frozen=True)
class _Kept:
    """What Redis holds: the answer, the rows of its memories, and what it depends on.

    `revision` is that of the memories, and that of the messages where they had a part in it;
    `shape` names the fields whose values `answer` holds.
    """

    answer: Any  # Any: what JSON holds
    memories: list[list[Any]]
    contradictions: list[str]
    revision: list[int | None]
    at: str
    shape: str


@dataclass(slots=True)
class _Written:
    """An answer on its way to JSON, in which rows are named and not copied."""

    memories: dict[UUID, Memory] = field(default_factory=dict)
    contradictions: dict[UUID, None] = field(default_factory=dict)

    def plain(self, answer: object) -> Any:  # Any: what JSON holds
        return as_plain(answer, {Memory: self._memory, Contradiction: self._contradiction})

    def _memory(self, memory: Memory) -> str:
        self.memories[memory.pk] = memory
        return str(memory.pk)

    def _contradiction(self, row: Contradiction) -> Any:
        if row.pk is not None:
            self.contradictions[row.pk] = None
            return str(row.pk)
        return {
            "memory_a": self._memory(row.memory_a),
            "memory_b": self._memory(cast(Memory, row.memory_b)),
            "detected_at": row.detected_at.isoformat(),
            **{name: getattr(row, name) for name in _SEEN},
        }


class _Rows:
    """The memories of a kept answer, all made when the first one is asked for."""

    def __init__(self, team_id: UUID, kept: list[list[Any]]) -> None:
        self._team_id, self._kept = team_id, kept
        self._made: dict[UUID, Memory] = {}

    def memory(self, name: str) -> Memory:
        """The one of that id."""
        if not self._made:
            self._made = memories_of_rows(team_id=self._team_id, rows=self._kept)
        return self._made[UUID(name)]


def _held(key: HotKey) -> _Kept | None:
    value = quick_redis().ask(lambda client: client.get(key.name))
    if value is None:
        return None
    try:
        return _Kept(**json.loads(cast(bytes, value)))
    except (TypeError, ValueError):
        return None


def _is_of_today(kept_at: str, now: datetime) -> bool:
    """Whether the kept answer's moment is near enough: a question may say "yesterday"."""
    at = datetime.fromisoformat(kept_at)
    near = timedelta(seconds=settings.HOT_ANSWER_SECONDS)
    return abs(now - at) <= near and at.astimezone(UTC).date() == now.astimezone(UTC).date()


def _holds(kept: list[int | None], revision: Revision) -> bool:
    memories, messages = kept
    return memories == revision.memories and messages in (None, revision.messages)


def _known(held: _Kept, viewer: Viewer) -> dict[str, Contradiction] | None:
    """The contradictions of a kept answer that still holds; None for one that does not."""
    if not held.contradictions and not connection.in_atomic_block:
        revision = committed_revision(team_id=viewer.team_id)
        return {} if revision is not None and _holds(held.revision, revision) else None
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        revision = team_revision(team_id=viewer.team_id)
        if revision is None or not _holds(held.revision, revision):
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
        memory_a=rows.memory(data["memory_a"]),
        memory_b=rows.memory(data["memory_b"]),
        detected_at=datetime.fromisoformat(data["detected_at"]),
        **{name: data[name] for name in _SEEN},
    )
