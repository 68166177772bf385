"""What a webhook is sent for an event, made of its ids at the moment of sending.

So no text and no name of a person waits to be sent: what was erased or deleted meanwhile is not
told any more.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

import orjson
from django.db.models import QuerySet

from memory.domain.audience import OF_AN_AGENT
from memory.domain.types import DELETED
from memory.models import Memory
from memory.satellites.webhooks.models import WebhookDelivery, WebhookEndpoint
from teams.models import Agent, EndUser, Project

# By the field of an event's data that has the id, where more is to be found.
_LINKS = {
    "memory": "/v1/memories/{}",
    "memory_a": "/v1/memories/{}",
    "memory_b": "/v1/memories/{}",
    "run": "/v1/consolidate/runs/{}",
}
_NAMES: dict[str, tuple[str, QuerySet[Any], str]] = {  # Any: rows of three models
    "agent_id": ("agent", Agent.objects.all(), "slug"),
    "end_user_id": ("user", EndUser.objects.all(), "external_id"),
    "project_id": ("project", Project.objects.all(), "slug"),
}


def payload_of(*, delivery: WebhookDelivery, endpoint: WebhookEndpoint) -> bytes:
    """The body of the message as JSON: type, timestamp and data; call it in the team's scope.

    `data` names agents, people and projects as the API does. It has the text of a memory where the
    endpoint asked for it, the memory is not deleted, and it is not an agent's own.
    """
    data = dict(delivery.data)
    for field, (word, rows, name) in _NAMES.items():
        if field in data:
            row_id = data.pop(field)
            named = rows.filter(team_id=delivery.team_id, pk=row_id).values_list(name, flat=True)
            data[word] = named.first() if row_id else None
    links = {name: path.format(data[name]) for name, path in _LINKS.items() if data.get(name)}
    if links:
        data["links"] = links
    if endpoint.include_text and delivery.type.startswith("memory.") and "memory" in data:
        data["text"] = _text_of(delivery.team_id, data["memory"])
    event = {"type": delivery.type, "timestamp": delivery.happened_at, "data": data}
    return orjson.dumps(event, option=orjson.OPT_UTC_Z)


def _text_of(team_id: UUID, memory_id: str) -> str | None:
    rows = Memory.objects.filter(team_id=team_id, pk=memory_id).exclude(status__in=DELETED)
    return rows.exclude(memory_type__in=OF_AN_AGENT).values_list("content", flat=True).first()
