"""Where memories that meet stand, written down for many of them by one statement."""

from __future__ import annotations

from collections.abc import Iterable

from memory.models import Memory
from teams.prepared import run_prepared

# In the order of ids, in which everybody locks. The rows are found by their ids alone: a kept plan
# would join all of the team's, see `memory/selectors/meeting/comparing.py`.
_MARK = """
UPDATE memory_memory AS memory
SET status = given.status, tier = given.tier, is_pinned = given.is_pinned,
    superseded_by_id = given.superseded_by, contradicts = given.contradicts::uuid[]
FROM unnest($2::uuid[], $3::text[], $4::text[], $5::boolean[], $6::uuid[], $7::text[])
    AS given (id, status, tier, is_pinned, superseded_by, contradicts)
WHERE (memory.team_id = $1) IS TRUE AND memory.id = given.id AND memory.id = ANY ($2::uuid[])
"""


def save_marks(memories: Iterable[Memory]) -> None:
    """Store status, tier, pin, successor and disputes of stored memories of one team.

    Each is locked by this transaction, or new in it.
    """
    rows = sorted(memories, key=lambda memory: memory.pk)
    if not rows:
        return
    run_prepared(
        _MARK,
        [
            rows[0].team_id,
            [memory.pk for memory in rows],
            [memory.status for memory in rows],
            [memory.tier for memory in rows],
            [memory.is_pinned for memory in rows],
            [memory.superseded_by_id for memory in rows],
            ["{" + ",".join(map(str, memory.contradicts)) + "}" for memory in rows],
        ],
    )
