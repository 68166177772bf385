"""Open contradictions as groups of facts on one matter, with what seed 001 recommends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from memory.domain.clashes import Conflict, resolve_conflicts
from memory.domain.facts import Fact
from memory.domain.viewer import Viewer
from memory.models import Contradiction, Memory
from memory.models.memory import LIVE
from memory.selectors.contradictions import contradictions_visible_to
from memory.selectors.loading.memories import memories_by_id
from teams.tenancy import team_scope

# So many contradictions are read, newest first; a review queue that is longer is a list of its own.
MOST_READ = 500


@dataclass(frozen=True, slots=True)
class ConflictGroup:
    """Facts that contradict each other, best first, and what the rule recommends.

    `key` is the subject that they share, "" where they name different ones.
    """

    key: str
    facts: tuple[Memory, ...]
    conflict: Conflict
    contradictions: tuple[UUID, ...]


def conflict_groups(*, viewer: Viewer, limit: int) -> list[ConflictGroup]:
    """At most `limit` groups of the open contradictions of which the viewer may see both sides.

    The newest contradictions come first. Nothing is changed: a person settles them.
    """
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        rows = contradictions_visible_to(viewer).filter(
            resolved_at=None,
            memory_b__isnull=False,
            memory_a__status__in=LIVE,
            memory_b__status__in=LIVE,
        )
        found = list(rows.order_by("-detected_at", "-id")[:MOST_READ])
        groups = _grouped(found)[:limit]
        ids = {key for conflict, _ in groups for key in conflict.keys}
        memories = memories_by_id(viewer=viewer, ids=list(ids))
    return [
        ConflictGroup(
            key=_shared_subject(conflict, memories),
            facts=tuple(memories[key] for key in conflict.keys if key in memories),
            conflict=conflict,
            contradictions=contradictions,
        )
        for conflict, contradictions in groups
    ]


def _grouped(found: Sequence[Contradiction]) -> list[tuple[Conflict, tuple[UUID, ...]]]:
    """The conflicts with the ids of their contradictions, in the order of the newest of these."""
    facts: dict[UUID, Fact] = {}
    pairs: dict[UUID, frozenset[UUID]] = {}
    for row in found:
        sides = [side for side in (row.memory_a, row.memory_b) if side is not None]
        pairs[row.pk] = frozenset(side.pk for side in sides)
        for side in sides:
            facts[side.pk] = Fact(side.pk, None, "", side.confidence, side.created_at)
    conflicts = resolve_conflicts(list(facts.values()), set(pairs.values())).conflicts
    groups = [
        (conflict, tuple(pk for pk, pair in pairs.items() if pair <= set(conflict.keys)))
        for conflict in conflicts
    ]
    places = {pk: place for place, pk in enumerate(pairs)}
    return sorted(groups, key=lambda group: places[group[1][0]])


def _shared_subject(conflict: Conflict, memories: Mapping[UUID, Memory]) -> str:
    subjects = {memories[key].subject for key in conflict.keys if key in memories}
    return subjects.pop() if len(subjects) == 1 else ""
