"""The answer cache.

A cached answer is valid while the team's revision is unchanged (audit/sql/team_revision.sql). The
key holds everything that decides an answer, the viewer with the categories of its agent first of
all. Recency and use of the memories drift for no longer than `HOT_ANSWER_SECONDS`, and not into
another day.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, cast
from uuid import UUID

import orjson
from django.conf import settings
from django.db import connection

from memory.clients.afterwards import afterwards
from memory.domain.audience import Viewer
from memory.reading.answers import RetrievalStats, milliseconds
from memory.reading.search import Level
from memory.reading.usage import note_retrieved
from memory.selectors.revisions import Revision, committed_revision
from memory.selectors.zones import zone_of
from memory.understanding.tools import Tools
from routing.clients.quick_redis import quick_redis

# A longer answer is made again rather than kept: Redis is not only ours.
MOST_BYTES = 256 * 1024
# Neither on Redis' disk nor at its replicas: a busy server keeps tens of megabytes a second, which
# nobody misses after a crash, and each rewrite of the file would stop Redis for a moment.
_KEEP = """
redis.replicate_commands()
redis.set_repl(redis.REPL_NONE)
redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[2])
"""
# In every zone a day begins with a quarter of an hour.
_QUARTER = 15 * 60
Body = dict[str, Any]  # Any: what JSON holds


@dataclass(frozen=True, slots=True)
class AnswerKey:
    """Under which name an answer is kept, for whom, and when it is asked for."""

    name: str
    viewer: Viewer
    now: datetime


@dataclass(frozen=True, slots=True)
class Made:
    """A new answer.

    `memory_ids` are those that it tells, `found` how many results it has, `similarity` the best
    cosine among its memories, `stats` what it took, which is not part of `body`. `revision` is that
    of what it was made of, None where it may not be cached; `read_messages` says that messages had
    a part in it.
    """

    body: Body
    memory_ids: Sequence[UUID]
    found: int
    similarity: float | None
    revision: Revision | None
    read_messages: bool = False
    stats: RetrievalStats = field(default_factory=RetrievalStats)


@dataclass(frozen=True, slots=True)
class Sent:
    """An answer as it is sent, new or cached; the fields are those of `Made`."""

    body: Body
    found: int
    similarity: float | None
    stats: RetrievalStats


def answer_key(
    *, form: str, viewer: Viewer, tools: Tools, now: datetime, parts: Mapping[str, object]
) -> AnswerKey | None:
    """The key of an answer that `parts` decide together with the viewer and the models.

    `form` names what is asked for and the fields of what is sent, so that another release's answer
    is not taken for it. None where nothing is kept. Raises TypeError for a part that cannot be
    written as JSON.
    """
    model = tools.embedding_model
    if not settings.HOT_ANSWER_SECONDS or model is None:
        return None
    decisive = {
        "form": form,
        "agent": viewer.agent_id,
        "end_user": viewer.end_user_id,
        "project": viewer.project_id,
        "categories": sorted(viewer.allowed_categories),
        "projects": sorted(map(str, viewer.project_ids)),
        "names_nobody": viewer.names_nobody,
        "is_guest": viewer.is_guest,
        "embedding_model": model,
        "judge": tools.judge.name,
        "parts": parts,
    }
    digest = hashlib.sha256(orjson.dumps(decisive, option=orjson.OPT_SORT_KEYS)).hexdigest()
    return AnswerKey(f"{settings.REDIS_PREFIX}:hot:{viewer.team_id}:{digest}", viewer, now)


@dataclass(frozen=True, slots=True)
class Lookup:
    """What Redis holds for a key: the answer while it holds, and the value `beside` it."""

    key: AnswerKey | None
    sent: Sent | None
    beside: bytes | None


def look_up(
    key: AnswerKey | None,
    *,
    viewer: Viewer,
    now: datetime,
    revision: Revision | None = None,
    beside: str | None = None,
) -> Lookup:
    """Returns the cached answer if it still holds; its memories are counted as retrieved.

    It holds only while the value under the name `beside` is the same, which is read with it.
    `revision` is the team's at any moment since somebody began to ask.
    """
    started = time.perf_counter()
    value, given = _read(key, beside)
    kept = None
    if key is not None and value is not None:
        kept = _held(key, value, _mark(given), revision)
    if kept is None:
        return Lookup(key, None, given)
    note_retrieved(team_id=viewer.team_id, memory_ids=kept["memories"], now=now)
    took = milliseconds(started)
    known = RetrievalStats(**kept["stats"])
    stats = replace(
        known,
        cache_hit=True,
        total_ms=took,
        steps_ms={"cache": took},
        warnings=tuple(known.warnings),
        searched=tuple(map(Level, known.searched)),
    )
    return Lookup(key, Sent(kept["body"], kept["found"], kept["similarity"], stats), given)


def keep(lookup: Lookup, made: Made) -> Sent:
    """Caches a new answer under the key of the lookup that missed it, and returns it."""
    if lookup.key is not None and made.revision is not None:
        _keep(lookup.key, made, made.revision, _mark(lookup.beside))
    return Sent(made.body, made.found, made.similarity, made.stats)


def _read(key: AnswerKey | None, beside: str | None) -> tuple[bytes | None, bytes | None]:
    """The kept answer and what is beside it, in one round trip; None for what is not there.

    In a transaction, which may have written, no answer is.
    """
    own = key.name if key is not None and not connection.in_atomic_block else None
    names = [name for name in (own, beside) if name is not None]
    if not names:
        return None, None
    values = cast("list[bytes | None] | None", quick_redis().ask(lambda client: client.mget(names)))
    found = dict(zip(names, values or (), strict=False))
    return found.get(own or ""), found.get(beside or "")


def _mark(value: bytes | None) -> str | None:
    return None if value is None else hashlib.sha256(value).hexdigest()


def _held(key: AnswerKey, value: bytes, mark: str | None, revision: Revision | None) -> Body | None:
    """Returns the cached answer if it still holds; `mark` is of the value beside it."""
    try:
        known: Body = orjson.loads(value)
        memories, messages = known["revision"]
    except (KeyError, TypeError, ValueError):
        return None  # what another release kept
    if known.get("beside") != mark or not _is_of_today(known["at"], key):
        return None
    revision = revision or committed_revision(team_id=key.viewer.team_id)
    if revision is None or memories != revision.memories:
        return None
    return known if messages in (None, revision.messages) else None


def _keep(key: AnswerKey, made: Made, revision: Revision, mark: str | None) -> None:
    answer = {
        "memories": made.memory_ids,
        "found": made.found,
        "similarity": made.similarity,
        "stats": made.stats,
        "revision": [revision.memories, revision.messages if made.read_messages else None],
        "at": key.now,
        "beside": mark,
        "body": made.body,
    }
    value = orjson.dumps(answer)
    if len(value) <= MOST_BYTES:
        seconds = settings.HOT_ANSWER_SECONDS
        afterwards(lambda pipe: pipe.eval(_KEEP, 1, key.name, value, seconds))


def _is_of_today(kept_at: str, key: AnswerKey) -> bool:
    """Whether the kept answer's moment is near enough: a question may say "yesterday"."""
    at, now = datetime.fromisoformat(kept_at), key.now
    if abs(now - at) > timedelta(seconds=settings.HOT_ANSWER_SECONDS):
        return False
    if at.timestamp() // _QUARTER == now.timestamp() // _QUARTER:
        return True
    zone = zone_of(team_id=key.viewer.team_id, now=now)
    return at.astimezone(zone).date() == now.astimezone(zone).date()
