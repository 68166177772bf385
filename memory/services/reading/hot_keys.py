"""Under which key an answer is kept in Redis, and whether what is kept there still holds."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime, timedelta

import orjson
from django.conf import settings

from memory.clients.afterwards import afterwards
from memory.clients.tools import Tools
from memory.domain.plain_json import as_plain
from memory.domain.viewer import Viewer
from memory.selectors.revisions import Revision
from memory.selectors.zones import zone_of

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
# The revision of the memories, and that of the messages where they had a part in it.
KeptRevision = list[int | None]


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

    None where nothing is kept. Raises TypeError for a part that cannot be written down, and
    ValueError for one with a name that says who asks.
    """
    model = tools.embedding_model
    if not settings.HOT_ANSWER_SECONDS or model is None:
        return None
    decisive: dict[str, object] = {
        "kind": kind,
        "agent": viewer.agent_id,
        "end_user": viewer.end_user_id,
        "project": viewer.project_id,
        "categories": sorted(viewer.allowed_categories),
        "embedding_model": model,
        "judge": tools.judge.name,
    }
    if taken := decisive.keys() & parts.keys():
        raise ValueError(f"{', '.join(sorted(taken))} tell who asks and cannot be parts of a key")
    decisive |= parts
    written = orjson.dumps(as_plain(decisive, {}), option=orjson.OPT_SORT_KEYS)
    digest = hashlib.sha256(written).hexdigest()
    return HotKey(f"{settings.REDIS_PREFIX}:hot:{viewer.team_id}:{digest}", viewer, now)


def put(key: HotKey, value: bytes) -> None:
    """Keep the value under the key, if it is not too long."""
    if len(value) <= MOST_BYTES:
        seconds = settings.HOT_ANSWER_SECONDS
        afterwards(lambda pipe: pipe.eval(_KEEP, 1, key.name, value, seconds))


def kept_revision(revision: Revision, *, read_messages: bool) -> KeptRevision:
    """What to keep of the revision; `read_messages` says that messages had a part in the answer."""
    return [revision.memories, revision.messages if read_messages else None]


def holds(kept: KeptRevision, revision: Revision) -> bool:
    """Whether nothing has changed since that had a part in the answer."""
    memories, messages = kept
    return memories == revision.memories and messages in (None, revision.messages)


def is_of_today(kept_at: str, key: HotKey) -> bool:
    """Whether the kept answer's moment is near enough: a question may say "yesterday"."""
    at, now = datetime.fromisoformat(kept_at), key.now
    if abs(now - at) > timedelta(seconds=settings.HOT_ANSWER_SECONDS):
        return False
    if at.timestamp() // _QUARTER == now.timestamp() // _QUARTER:
        return True
    zone = zone_of(team_id=key.viewer.team_id, now=now)
    return at.astimezone(zone).date() == now.astimezone(zone).date()
