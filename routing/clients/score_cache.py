"""Cache of complexity scores in Redis, for five minutes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from uuid import UUID

from django.conf import settings

from routing.domain.complexity import DIMENSIONS, ComplexityScore

from .quick_redis import quick_redis

# Seed 000, QueryComplexityScorer: "cached in Redis (TTL 5min)".
CACHED_SECONDS = 300


def key_of(
    *, team_id: UUID, scorer: str, query: str, history: Sequence[str], history_turns: int
) -> str:
    """The key of the score of a query after this history; it holds none of their words.

    `scorer` names who judges, so that another model has keys of its own. Teams share no key.
    """
    told = json.dumps([scorer, query, history_turns, list(history)])
    digest = hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{settings.REDIS_PREFIX}:complexity:{team_id}:{digest}"


def cached_score(*, key: str) -> ComplexityScore | None:
    """The score under `key`; None where there is none, it cannot be read, or Redis is away."""
    value = quick_redis().ask(lambda client: client.get(key))
    if not isinstance(value, bytes | str):
        return None
    try:
        values, reasons = json.loads(value)
        return ComplexityScore(
            **{name: float(values[name]) for name in DIMENSIONS},
            reasons={str(name): str(reason) for name, reason in reasons.items()},
        )
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


def cache_score(*, key: str, score: ComplexityScore) -> None:
    """Cache a score for five minutes; does nothing while Redis is away."""
    value = json.dumps([score.dimensions, dict(score.reasons)])
    quick_redis().ask(lambda client: client.set(key, value, ex=CACHED_SECONDS))
