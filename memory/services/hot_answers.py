"""The hot tier: answers kept in Redis, given again for as long as nothing of the team has changed.

An answer is kept with the revision of the team that was read before it was made, and given again
only in a transaction that still sees that revision (audit/sql/team_revision.sql): an acknowledged
write is in every answer after it. It is kept under everything that decides it, the viewer with the
categories of its agent first of all, so that nobody is given what was made for somebody else; its
memories are read again, as far as the viewer may see them, and with one missing the answer counts
as changed. What depends on the moment alone, the recency of the memories, drifts for no longer
than `HOT_ANSWER_SECONDS`, and not into another day.
"""

from __future__ import annotations

import hashlib
import json
import logging
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar, cast
from uuid import UUID

from django.conf import settings

from memory.clients.quick_redis import quick_redis
from memory.clients.tools import Tools
from memory.domain.plain_json import Foreign, as_plain, from_plain
from memory.domain.viewer import Viewer
from memory.models import Contradiction, Memory
from memory.selectors.contradictions import contradictions_visible_to
from memory.selectors.loading import memories_and_revision
from memory.selectors.revisions import Revision, team_revision
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


def held_answer(key: HotKey | None, kind: type[_T]) -> _T | None:
    """The answer that is kept under the key and still holds; call it outside of any scope."""
    held = _held(key) if key is not None else None
    if key is None or held is None or not _is_of_today(held.at, key.now):
        return None
    viewer, ids = key.viewer, [UUID(each) for each in held.memories]
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        memories, revision = memories_and_revision(viewer=viewer, ids=ids)
        if not ids:
            revision = team_revision(team_id=viewer.team_id)
        if revision is None or not _holds(held.revision, revision):
            return None
        if len(memories) != len(ids):
            return None
        known = _contradictions(viewer, held.contradictions)
    foreign: Foreign = {
        Memory: lambda data: memories[UUID(data)],
        Contradiction: lambda data: _contradiction(data, known, memories, viewer),
    }
    try:
        return cast(_T, from_plain(kind, held.answer, foreign))
    except (LookupError, TypeError, ValueError):
        # What another release kept.
        return None


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
        memories=[str(each) for each in written.memories],
        contradictions=[str(each) for each in written.contradictions],
        revision=[revision.memories, revision.messages if read_messages else None],
        at=key.now.isoformat(),
    )
    value = json.dumps(vars(kept)).encode()
    if len(value) <= MOST_BYTES:
        seconds = settings.HOT_ANSWER_SECONDS
        quick_redis().ask(lambda client: client.set(key.name, value, ex=seconds))


@dataclass(frozen=True)
class _Kept:
    """What Redis holds: the answer without its rows, their ids, and what it depends on.

    `revision` is that of the memories, and that of the messages where they had a part in it.
    """

    answer: Any  # Any: what JSON holds
    memories: list[str]
    contradictions: list[str]
    revision: list[int | None]
    at: str


@dataclass(slots=True)
class _Written:
    """An answer on its way to JSON, in which rows are named and not copied."""

    memories: dict[UUID, None] = field(default_factory=dict)
    contradictions: dict[UUID, None] = field(default_factory=dict)

    def plain(self, answer: object) -> Any:  # Any: what JSON holds
        return as_plain(answer, {Memory: self._memory, Contradiction: self._contradiction})

    def _memory(self, memory: Memory) -> str:
        self.memories[memory.pk] = None
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


def _contradictions(viewer: Viewer, ids: list[str]) -> dict[str, Contradiction]:
    if not ids:
        return {}
    return {str(row.pk): row for row in contradictions_visible_to(viewer).filter(pk__in=ids)}


def _contradiction(
    data: Any, known: dict[str, Contradiction], memories: dict[UUID, Memory], viewer: Viewer
) -> Contradiction:
    if isinstance(data, str):
        return known[data]
    return Contradiction(
        id=None,
        team_id=viewer.team_id,
        memory_a=memories[UUID(data["memory_a"])],
        memory_b=memories[UUID(data["memory_b"])],
        detected_at=datetime.fromisoformat(data["detected_at"]),
        **{name: data[name] for name in _SEEN},
    )
