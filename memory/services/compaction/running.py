"""The current summary of a conversation."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import cast

from django.conf import settings

from memory.domain.summarising import RulesSummariser
from memory.domain.types import Status
from memory.models import Memory
from memory.models.memory import LIVE
from memory.services.compaction.summaries import (
    is_up_to_date,
    latest_compaction,
    standing_points,
    standing_summary,
    summary_basis,
)
from routing.clients.quick_redis import quick_redis
from teams.models import Conversation

_CACHE_SECONDS = 24 * 3600


def running_summary(*, conversation: Conversation) -> str:
    """The latest summary of a conversation, with later corrections; call it in scope.

    Empty if there is none or it was deleted. If a memory it covers was deleted, corrected or
    superseded since, it is rebuilt by rules from the current ones, until a compaction renews it.

    `conversation` must have been read before, and this transaction must not have changed it: Redis
    caches the summary by the conversation's revision, which every compaction and every change of
    its memories increases; at revision 0 there is none. Memories of other conversations that the
    summary covers are checked each time.
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
    text, elsewhere = _stored(conversation)
    kept = json.dumps([conversation.revision, text, *elsewhere])
    quick_redis().ask(lambda client: client.set(key, kept, ex=_CACHE_SECONDS))
    return text


def _stored(conversation: Conversation) -> tuple[str, list[str]]:
    """The summary's text, and the memories of other conversations that it tells."""
    latest = latest_compaction(team_id=conversation.team_id, conversation_id=conversation.pk)
    if latest is None:
        return "", []
    memory = standing_summary(latest)
    if memory.status == Status.SOFT_DELETED:
        return "", []
    heads = standing_points(latest)
    elsewhere = [str(head.pk) for head in heads if head.conversation_id != conversation.pk]
    if is_up_to_date(memory=memory, compaction=latest, heads=heads):
        return memory.content, elsewhere
    after = latest.to_position
    basis = summary_basis(conversation=conversation, previous=latest, first=after + 1, last=after)
    text = RulesSummariser().summarise(points=basis.points, since=basis.since, until=basis.until)
    return text, elsewhere


def _are_live(conversation: Conversation, ids: Sequence[str]) -> bool:
    """Whether all of these still hold; nothing is asked for none."""
    if not ids:
        return True
    rows = Memory.objects.filter(team_id=conversation.team_id, pk__in=ids, status__in=LIVE)
    return rows.count() == len(set(ids))
