"""The summaries of a conversation, and the points of the next one."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import cast
from uuid import UUID

from django.conf import settings
from django.db.models import Max, Min
from pydantic import TypeAdapter

from memory.domain.talk import SUMMARY_TAG, most_important, sentences_of, summarise
from memory.domain.types import DELETED, Point
from memory.models import Compaction, Job, Memory
from memory.models.memory import LIVE
from memory.writing.repetitions import later_versions
from routing.clients.quick_redis import quick_redis
from teams.models import Conversation, Message

EXTRACTOR = "summary"
POINTS = "points"
# The points as a compaction stores them.
POINT_LIST = TypeAdapter(list[Point])
# Sentences that a person wrote are not dropped by rules.
_WRITTEN_IMPORTANCE = 10
_CACHE_SECONDS = 24 * 3600


@dataclass(frozen=True, slots=True)
class SummaryBasis:
    """The points of a summary in the order of time, and the time it covers."""

    points: tuple[Point, ...]
    since: datetime
    until: datetime


def latest_compaction(*, team_id: UUID, conversation_id: UUID) -> Compaction | None:
    """Returns the compaction that reaches furthest; call it in scope."""
    rows = Compaction.objects.filter(team_id=team_id, conversation_id=conversation_id)
    return rows.select_related("summary_memory").order_by("-to_position").first()


def standing_summary(compaction: Compaction) -> Memory:
    """Returns the summary's memory in its present version, whatever its status."""
    memory = compaction.summary_memory
    while memory.superseded_by is not None and SUMMARY_TAG in memory.superseded_by.tags:
        memory = memory.superseded_by
    return memory


def _is_written_by_hand(memory: Memory) -> bool:
    return not memory.extractor.startswith(f"{EXTRACTOR}:")


def is_up_to_date(*, memory: Memory, compaction: Compaction, heads: Sequence[Memory]) -> bool:
    """Returns whether the summary matches its present points (`heads`, its `standing_points`).

    It does not if one was deleted, corrected, superseded or restored since. A summary that a
    person rewrote always counts as up to date.
    """
    if _is_written_by_hand(memory) or not compaction.points:
        return True
    told = memory.payload.get(POINTS)
    if told is None:
        told = [each for point in compaction.points for each in point["memory_ids"]]
    return {head.pk for head in heads} == {UUID(each) for each in told}


def standing_points(compaction: Compaction) -> list[Memory]:
    """Returns the present versions of the memories of the compaction's points, each once."""
    ids = {UUID(each) for point in compaction.points for each in point["memory_ids"]}
    return [head for _, head in _standing(compaction.team_id, ids)] if ids else []


def summary_basis(
    *, conversation: Conversation, previous: Compaction | None, first: int, last: int
) -> SummaryBasis:
    """Returns the basis of a summary of everything up to `last`; call it in scope.

    The points are those of the previous summary and the memories of messages `first` to `last`, in
    their present versions, without superseded, deleted and unconfirmed ones. Of no messages,
    `first` past `last`, it is the previous one's.
    """
    rows = Message.objects.filter(
        team_id=conversation.team_id, conversation=conversation, position__lte=last
    )
    own = set(rows.filter(position__gte=first).values_list("id", flat=True))
    earlier = _earlier_points(previous)
    written = [point for point in earlier if not point.memory_ids]
    known = {memory_id: point for point in earlier for memory_id in point.memory_ids}
    found = _extracted(conversation, first, last, own) if first <= last else set()
    standing: dict[UUID, tuple[int, Point]] = {}
    # Of what was said at the same moment, the points known before come first, in their order.
    order = {memory_id: place for place, memory_id in enumerate(known)}
    for memory, head in _standing(conversation.team_id, known.keys() | found):
        if memory.pk in known:
            said_at = known[memory.pk].said_at
        elif own.intersection(memory.source_message_ids):
            said_at = memory.created_at
        else:
            continue
        point = Point(head.content, head.importance, said_at, (head.pk,))
        standing.setdefault(head.pk, (order.get(memory.pk, len(order)), point))
    ranked = sorted(standing.values(), key=lambda placed: placed[0])
    points = sorted((*written, *(point for _, point in ranked)), key=lambda point: point.said_at)
    covered = rows if written or known else rows.filter(position__gte=first)
    times = covered.aggregate(since=Min("created_at"), until=Max("created_at"))
    return SummaryBasis(tuple(most_important(points=points)), times["since"], times["until"])


def _earlier_points(previous: Compaction | None) -> list[Point]:
    """Returns the points of the previous summary, or its sentences where a person rewrote it."""
    if previous is None:
        return []
    memory = standing_summary(previous)
    if memory.status in DELETED:
        return []
    if _is_written_by_hand(memory) or not previous.points:
        said_at = previous.summary_memory.created_at
        return [
            Point(sentence, _WRITTEN_IMPORTANCE, said_at)
            for sentence in sentences_of(memory.content)
        ]
    return POINT_LIST.validate_python(previous.points)


def _extracted(conversation: Conversation, first: int, last: int, own: set[UUID]) -> set[UUID]:
    """Returns the memories made of the messages `own`, and those that their jobs repeated."""
    memories = Memory.objects.filter(
        team_id=conversation.team_id, conversation=conversation, extraction_pass__isnull=False
    ).values_list("id", "source_message_ids")
    made = {memory_id for memory_id, sources in memories if own.intersection(sources)}
    jobs = Job.objects.extractions().filter(
        team_id=conversation.team_id,
        conversation=conversation,
        from_position__lte=last,
        to_position__gte=first,
    )
    results = jobs.values_list("result", flat=True)
    return made | {UUID(each) for result in results for each in result.get("memories", ())}


def _standing(team_id: UUID, ids: Collection[UUID]) -> list[tuple[Memory, Memory]]:
    """Returns each confirmed memory that still holds with its present version, oldest first."""
    rows = _read(team_id, ids)
    versions = later_versions(rows.values(), read=partial(_read, team_id)) | rows
    found = []
    for memory in sorted(rows.values(), key=lambda row: (row.created_at, row.pk)):
        head = memory
        while not head.is_live and head.superseded_by_id in versions:
            head = versions[head.superseded_by_id]
        # A correction rests on the same messages. A newer statement rests on its own, and is a
        # point itself where it belongs to this conversation.
        is_same = head is memory or not set(memory.source_message_ids).isdisjoint(
            head.source_message_ids
        )
        if head.is_live and is_same and not head.is_unconfirmed:
            found.append((memory, head))
    return found


def _read(team_id: UUID, ids: Collection[UUID]) -> dict[UUID, Memory]:
    rows = Memory.objects.filter(team_id=team_id, pk__in=list(ids)).only(
        "team_id",
        "content",
        "importance",
        "status",
        "source",
        "superseded_by_id",
        "conversation_id",
        "source_message_ids",
        "created_at",
    )
    return {row.pk: row for row in rows}


def running_summary(*, conversation: Conversation) -> str:
    """Returns the latest summary of a conversation, with later corrections; call it in scope.

    Empty if there is none or it was deleted. If a memory it covers changed since, it is rebuilt by
    rules until a compaction renews it. Redis caches it by the conversation's revision, which this
    transaction must not have changed; memories of other conversations are checked each time.
    """
    if not conversation.revision:
        # A summary is a memory of the conversation, and each one of these moves it.
        return ""
    key = f"{settings.REDIS_PREFIX}:summary:{conversation.team_id}:{conversation.pk}"
    held = quick_redis().ask(lambda client: client.get(key))
    if held is not None:
        revision, text, *elsewhere = json.loads(cast(bytes, held))
        if revision == conversation.revision and _are_live(conversation, elsewhere):
            return str(text)
    text, elsewhere = _present_summary(conversation)
    cached = json.dumps([conversation.revision, text, *elsewhere])
    quick_redis().ask(lambda client: client.set(key, cached, ex=_CACHE_SECONDS))
    return text


def _present_summary(conversation: Conversation) -> tuple[str, list[str]]:
    """Returns the summary's text, and the memories of other conversations that it covers."""
    latest = latest_compaction(team_id=conversation.team_id, conversation_id=conversation.pk)
    if latest is None:
        return "", []
    memory = standing_summary(latest)
    if memory.status in DELETED:
        return "", []
    heads = standing_points(latest)
    elsewhere = [str(head.pk) for head in heads if head.conversation_id != conversation.pk]
    if is_up_to_date(memory=memory, compaction=latest, heads=heads):
        return memory.content, elsewhere
    after = latest.to_position
    basis = summary_basis(conversation=conversation, previous=latest, first=after + 1, last=after)
    return summarise(points=basis.points, since=basis.since, until=basis.until), elsewhere


def _are_live(conversation: Conversation, ids: Sequence[str]) -> bool:
    if not ids:
        return True
    rows = Memory.objects.filter(team_id=conversation.team_id, pk__in=ids, status__in=LIVE)
    return rows.count() == len(set(ids))
