"""The answer cache, and predicted memories, which lie beside the answers in Redis.

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
from memory.reading.questions import Level
from memory.reading.usage import note_retrieved
from memory.selectors.revisions import Revision, committed_revision
from memory.selectors.ttl_cache import zone_of
from memory.understanding.tools import Tools
from routing.clients.quick_redis import quick_redis

# A longer answer is not cached: Redis is not only ours.
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
PREFETCH_SECONDS = 15 * 60
Body = dict[str, Any]  # Any: what JSON holds


@dataclass(frozen=True, slots=True)
class AnswerKey:
    """The name of an answer in the cache, its reader, and the time of the request."""

    name: str
    viewer: Viewer
    now: datetime


@dataclass(frozen=True, slots=True)
class Sent:
    """An answer as it is sent, new or cached.

    `memory_ids` are those that it tells, `found` how many results it has, `similarity` the best
    cosine among its memories, `stats` its costs, which are not part of `body`. `revision` is that
    of what it was made of, None if it may not be cached, and of a cached one; `read_messages` says
    that it depends on messages.
    """

    body: Body
    memory_ids: Sequence[UUID]
    found: int
    similarity: float | None
    revision: Revision | None = None
    read_messages: bool = False
    stats: RetrievalStats = field(default_factory=RetrievalStats)


def answer_key(
    *, form: str, viewer: Viewer, tools: Tools, now: datetime, parts: Mapping[str, object]
) -> AnswerKey | None:
    """Returns the key of an answer that `parts` decide together with the viewer and the models.

    `form` names what is asked for and the fields of what is sent, so that another release's answer
    is not taken for it. None if the cache is off. Raises TypeError for a part that cannot be
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
    """The values in Redis for a key: the answer if it is valid, and the value `beside` it."""

    key: AnswerKey | None
    sent: Sent | None
    beside: bytes | None


def look_up(key: AnswerKey | None, *, beside: str | None = None) -> Lookup:
    """Looks an answer up; the memories of one that is found are counted as retrieved.

    It is valid only while the value under the name `beside` is the same, which is read with it.
    """
    started = time.perf_counter()
    value, given = _read(key, beside)
    if key is None or value is None:
        return Lookup(key, None, given)
    kept = _valid(key, value, _mark(given))
    if kept is None:
        return Lookup(key, None, given)
    note_retrieved(team_id=key.viewer.team_id, memory_ids=kept["memories"], now=key.now)
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
    sent = Sent(kept["body"], kept["memories"], kept["found"], kept["similarity"], stats=stats)
    return Lookup(key, sent, given)


def keep(lookup: Lookup, sent: Sent) -> Sent:
    """Caches a new answer under the key of the lookup that missed it, and returns it."""
    key, revision = lookup.key, sent.revision
    if key is not None and revision is not None:
        answer = {
            "memories": sent.memory_ids,
            "found": sent.found,
            "similarity": sent.similarity,
            "stats": sent.stats,
            "revision": [revision.memories, revision.messages if sent.read_messages else None],
            "at": key.now,
            "beside": _mark(lookup.beside),
            "body": sent.body,
        }
        name, value, seconds = key.name, orjson.dumps(answer), settings.HOT_ANSWER_SECONDS
        if len(value) <= MOST_BYTES:
            afterwards(lambda pipe: pipe.eval(_KEEP, 1, name, value, seconds))
    return sent


def _read(key: AnswerKey | None, beside: str | None) -> tuple[bytes | None, bytes | None]:
    """Both values in one round trip; no answer in a transaction, which may have written."""
    own = key.name if key is not None and not connection.in_atomic_block else None
    names = [name for name in (own, beside) if name is not None]
    if not names:
        return None, None
    values = cast("list[bytes | None] | None", quick_redis().ask(lambda client: client.mget(names)))
    found = dict(zip(names, values or (), strict=False))
    return found.get(own or ""), found.get(beside or "")


def _mark(value: bytes | None) -> str | None:
    return None if value is None else hashlib.sha256(value).hexdigest()


def _valid(key: AnswerKey, value: bytes, mark: str | None) -> Body | None:
    try:
        known: Body = orjson.loads(value)
        memories, messages = known["revision"]
    except (KeyError, TypeError, ValueError):
        return None  # what another release kept
    if known.get("beside") != mark or not _is_of_today(known["at"], key):
        return None
    revision = committed_revision(team_id=key.viewer.team_id)
    if revision is None or memories != revision.memories:
        return None
    return known if messages in (None, revision.messages) else None


def _is_of_today(kept_at: str, key: AnswerKey) -> bool:
    """Returns whether the cached answer is recent enough: a question may say "yesterday"."""
    at, now = datetime.fromisoformat(kept_at), key.now
    if abs(now - at) > timedelta(seconds=settings.HOT_ANSWER_SECONDS):
        return False
    if at.timestamp() // _QUARTER == now.timestamp() // _QUARTER:
        return True
    zone = zone_of(team_id=key.viewer.team_id, now=now)
    return at.astimezone(zone).date() == now.astimezone(zone).date()


@dataclass(frozen=True, slots=True)
class Predicted:
    """A memory that is likely to be needed, its chance (0-1), and reasons for the caller."""

    memory_id: UUID
    confidence: float
    reasons: tuple[str, ...]


def prefetched(*, viewer: Viewer) -> tuple[Predicted, ...]:
    """Returns what was last predicted for exactly this viewer, likeliest first.

    Predictions expire, and there are none while Redis is away. Load them through `visible_to`, as
    each may have changed since.
    """
    key = prefetch_key(viewer)
    value = cast("bytes | None", quick_redis().ask(lambda client: client.get(key)))
    return read_prefetch(value)


def read_prefetch(value: bytes | None) -> tuple[Predicted, ...]:
    """Returns the predictions in the value under `prefetch_key`, likeliest first."""
    if value is None:
        return ()
    try:
        return tuple(
            Predicted(UUID(memory_id), float(confidence), tuple(reasons))
            for memory_id, confidence, reasons in orjson.loads(value)
        )
    except (TypeError, ValueError):
        return ()  # what another release kept


def prefetch_key(viewer: Viewer) -> str:
    """Returns the name of the predictions for exactly this viewer in Redis."""
    return key_of("predicted", viewer)


def key_of(kind: str, viewer: Viewer) -> str:
    """Returns the name of what Redis keeps of that kind for exactly this viewer."""
    # Everything that decides what the viewer may see is in it.
    seen = [
        viewer.agent_id,
        viewer.end_user_id,
        viewer.project_id,
        sorted(viewer.allowed_categories),
        sorted(viewer.project_ids),
        viewer.names_nobody,
        viewer.is_guest,
    ]
    digest = hashlib.sha256(orjson.dumps(seen)).hexdigest()
    return f"{settings.REDIS_PREFIX}:{kind}:{viewer.team_id}:{digest}"
