"""Operational events: what was done, how often, with what result."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from uuid import UUID

from audit.models import OperationalEvent


@dataclass(frozen=True, slots=True)
class Event:
    """One event: where (`node`), what (`op`), how it went (`status`: ok, error, skipped).

    `similarity` is the best neighbour's cosine where one was looked for; `meta` holds figures and
    reasons, never contents.
    """

    node: str
    op: str
    status: str = "ok"
    memory_id: UUID | None = None
    end_user_id: UUID | None = None
    conversation_id: UUID | None = None
    similarity: float | None = None
    meta: Mapping[str, object] = field(default_factory=dict)


def record_events(*, team_id: UUID, events: Iterable[Event]) -> None:
    """Insert the events in one statement; call it in the team's scope."""
    OperationalEvent.objects.bulk_create(
        OperationalEvent(
            team_id=team_id,
            node=event.node,
            op=event.op,
            status=event.status,
            memory_id=event.memory_id,
            end_user_id=event.end_user_id,
            conversation_id=event.conversation_id,
            similarity=event.similarity,
            meta=dict(event.meta),
        )
        for event in events
    )
