"""Memories that were predicted for a viewer, kept in Redis for the viewer's next reads."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import cast
from uuid import UUID

import orjson
from django.conf import settings

from memory.domain.viewer import Viewer
from routing.clients.quick_redis import quick_redis

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
