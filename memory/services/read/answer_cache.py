"""The answer cache: answers as they were sent, kept in Redis and sent again while they are true.

An answer is kept with the revision of the team that was read before it was made, and given again
only while a reader still sees that revision (audit/sql/team_revision.sql): an acknowledged write is
in every answer after it. Its key holds everything that decides it, the viewer with the categories
of its agent first of all, so that nobody is given what was made for somebody else. The recency of
the memories drifts for no longer than `HOT_ANSWER_SECONDS`, and not into another day.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, cast
from uuid import UUID

import orjson
from django.conf import settings
from django.db import connection

from memory.clients.afterwards import afterwards, at_its_end
from memory.clients.tools import Tools
from memory.domain.viewer import Viewer
from memory.models.querysets import MemoryQuerySet
from memory.selectors.revisions import Revision, committed_revision
from memory.selectors.zones import zone_of
from memory.services.read.answers import Retrieval, RetrievalStats
from memory.services.read.cascade import Depth, Level
from memory.services.read.prompt_packing import Packing
from memory.services.read.ranking import Question
from memory.services.read.relevant import default_floor
from memory.services.read.retrieval import retrieve
from memory.services.read.stopwatch import milliseconds
from memory.services.read.usage import note_retrieved
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
# Between what is known of the answer and its text; no JSON of one line holds it.
_END = b"\n"


@dataclass(frozen=True, slots=True)
class AnswerKey:
    """Under which name an answer is kept, for whom, and when it is asked for."""

    name: str
    viewer: Viewer
    now: datetime


@dataclass(frozen=True, slots=True)
class Made:
    """A new answer as it is to be sent.

    `memory_ids` are those that it tells, `found` how many results it has, `similarity` the best
    cosine among its memories, `stats` what it took, which is not part of `body`. `revision` is that
    of what it was made of, None where it may not be kept; `read_messages` says that messages had a
    part in it.
    """

    body: bytes
    memory_ids: Sequence[UUID]
    found: int
    similarity: float | None
    revision: Revision | None
    read_messages: bool = False
    stats: RetrievalStats = field(default_factory=RetrievalStats)


@dataclass(frozen=True, slots=True)
class Sent:
    """An answer as it is sent, made anew or kept; the fields are those of `Made`."""

    body: bytes
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
        "embedding_model": model,
        "judge": tools.judge.name,
        "parts": parts,
    }
    digest = hashlib.sha256(orjson.dumps(decisive, option=orjson.OPT_SORT_KEYS)).hexdigest()
    return AnswerKey(f"{settings.REDIS_PREFIX}:hot:{viewer.team_id}:{digest}", viewer, now)


def answered(
    key: AnswerKey | None,
    *,
    viewer: Viewer,
    now: datetime,
    make: Callable[[], Made],
    revision: Revision | None = None,
) -> Sent:
    """The answer that is kept under the key while it holds, else the one that `make` makes.

    `revision` is the team's at any moment since somebody began to ask. Reads are counted for what
    is kept; `make` counts its own.
    """
    started = time.perf_counter()
    kept = _kept(key, revision) if key is not None else None
    if kept is not None:
        head, body = kept
        note_retrieved(team_id=viewer.team_id, memory_ids=head["memories"], now=now)
        took = milliseconds(started)
        known = RetrievalStats(**head["stats"])
        stats = replace(
            known,
            cache_hit=True,
            total_ms=took,
            steps_ms={"cache": took},
            warnings=tuple(known.warnings),
            searched=tuple(map(Level, known.searched)),
        )
        return Sent(body, head["found"], head["similarity"], stats)
    with at_its_end():
        made = make()
        if key is not None and made.revision is not None:
            _keep(key, made, made.revision)
    return Sent(made.body, made.found, made.similarity, made.stats)


def send_retrieval(
    *,
    viewer: Viewer,
    question: Question,
    limit: int | None,
    depth: Depth,
    write: Callable[[Retrieval], bytes],
    form: str,
    tools: Tools,
    now: datetime,
    packing: Packing | None = None,
    rows: MemoryQuerySet | None = None,
    min_score: float | None = None,
    revision: Revision | None = None,
) -> Sent:
    """As `retrieve`, written by `write`: what was written before is not made or written again.

    `form` is that of `answer_key`. What a filter narrows, `rows`, is not kept.
    """
    key = None
    if rows is None:
        parts = {
            "question": question,
            "limit": limit,
            "depth": depth,
            "min_score": default_floor() if min_score is None else min_score,
            "packing": packing and [packing.weights, packing.token_budget, packing.counter.name],
        }
        key = answer_key(form=form, viewer=viewer, tools=tools, now=now, parts=parts)

    def make() -> Made:
        found = retrieve(
            viewer=viewer,
            question=question,
            limit=limit,
            depth=depth,
            packing=packing,
            rows=rows,
            min_score=min_score,
            tools=tools,
            now=now,
            revision=revision,
        )
        return Made(
            body=write(found),
            memory_ids=[each.row.memory_id for each in found.told],
            found=len(found.told) if packing else len(found.results),
            similarity=found.similarity,
            revision=found.revision,
            read_messages=found.read_messages,
            stats=found.stats,
        )

    return answered(key, viewer=viewer, now=now, make=make, revision=revision)


def _kept(key: AnswerKey, revision: Revision | None) -> tuple[dict[str, Any], bytes] | None:
    """What is kept under the key and still holds; None in a transaction, which may have written."""
    if connection.in_atomic_block:
        return None
    value = cast("bytes | None", quick_redis().ask(lambda client: client.get(key.name)))
    if value is None:
        return None
    head, _, body = value.partition(_END)
    try:
        known = orjson.loads(head)
        memories, messages = known["revision"]
    except (KeyError, TypeError, ValueError):
        return None  # what another release kept
    if not _is_of_today(known["at"], key):
        return None
    revision = revision or committed_revision(team_id=key.viewer.team_id)
    if revision is None or memories != revision.memories:
        return None
    return (known, body) if messages in (None, revision.messages) else None


def _keep(key: AnswerKey, made: Made, revision: Revision) -> None:
    head = {
        "memories": made.memory_ids,
        "found": made.found,
        "similarity": made.similarity,
        "stats": made.stats,
        "revision": [revision.memories, revision.messages if made.read_messages else None],
        "at": key.now,
    }
    value = orjson.dumps(head) + _END + made.body
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
