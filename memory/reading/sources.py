"""Candidates besides the search: those of satellites, and predicted memories."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol, cast
from uuid import UUID

import orjson
from django.conf import settings

from memory.domain.audience import Viewer
from memory.domain.retrieval.question import Asked
from routing.clients.quick_redis import quick_redis


class Source(Protocol):
    """Proposes memories that the viewer may see for a question; called in the team's scope."""

    def __call__(self, *, viewer: Viewer, asked: Asked) -> Iterable[UUID]: ...


SOURCES: list[Source] = []


def further_candidates(*, viewer: Viewer, asked: Asked) -> list[UUID]:
    """Returns the candidates of every source."""
    return [found for source in SOURCES for found in source(viewer=viewer, asked=asked)]


PREFETCH_SECONDS = 15 * 60


@dataclass(frozen=True, slots=True)
class Predicted:
    """A memory that is likely to be needed, how likely (0-1), and why, in words for the caller."""

    memory_id: UUID
    confidence: float
    reasons: tuple[str, ...]


def prefetched(*, viewer: Viewer) -> tuple[Predicted, ...]:
    """What was last predicted for exactly this viewer, likeliest first.

    Empty after a while, where nothing was predicted, and while Redis is away. Whoever tells them
    loads them through `visible_to`, as each may have changed since.
    """
    key = prefetch_key(viewer)
    value = cast("bytes | None", quick_redis().ask(lambda client: client.get(key)))
    return read_prefetch(value)


def read_prefetch(value: bytes | None) -> tuple[Predicted, ...]:
    """What Redis holds under `prefetch_key`, None for nothing, likeliest first."""
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
    """Where Redis keeps what was predicted for exactly this viewer."""
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
    return f"{settings.REDIS_PREFIX}:predicted:{viewer.team_id}:{digest}"
