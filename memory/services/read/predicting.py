"""Which memories the work in progress will need, before it asks."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from memory.domain.prediction.signals import Signals
from memory.domain.viewer import Viewer


@dataclass(frozen=True, slots=True)
class Predicted:
    """A memory that is likely to be needed, how likely (0-1), and why, in words for the caller."""

    memory_id: UUID
    confidence: float
    reasons: tuple[str, ...]


def predict(
    *, viewer: Viewer, signals: Signals, now: datetime, limit: int = 20
) -> tuple[Predicted, ...]:
    """The live memories that the signals speak for among what the viewer may see, likeliest first.

    At most `limit`; what nothing speaks for is left out. Call it in the team's scope or outside of
    any transaction. What is predicted is kept in Redis for the viewer's next reads.
    """
    return ()


def prefetched(*, viewer: Viewer) -> tuple[Predicted, ...]:
    """What was last predicted for exactly this viewer, likeliest first.

    Empty after a while, where nothing was predicted, and while Redis is away. Whoever tells them
    loads them through `visible_to`, as each may have changed since.
    """
    return ()
