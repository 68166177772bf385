"""Which memories a consolidation looks at (seed 004, §4): few, whatever the size of the store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from audit.models import MemoryLog
from memory.models import Memory, MemoryUsage
from memory.models.querysets import MemoryQuerySet
from memory.satellites.lifecycle.selectors.scope import Scope
from memory.satellites.lifecycle.steps import Json, Step

PAGE = 200
# Of those that nothing happened to, a run looks at so many; the next one goes on after them.
STANDING = 1_000
# 3 of 5 on the scale of seed 004.
IMPORTANT = 6
# Of what was retrieved, the share that was retrieved most.
TOP = 0.1
_OWN = ("task:consolidate", "task:write_levels")
_FIRST = UUID(int=0)
_PARTS = ("changed", "used", "standing")


@dataclass(frozen=True, slots=True)
class Candidates:
    """A page of them; `cursor` is where the next one begins, `resume` where the next run does."""

    memories: Sequence[Memory]
    cursor: Json = None
    resume: Json = None


def candidates(*, scope: Scope, step: Step, cursor: Json) -> Candidates:
    """The next page of live memories worth comparing; call it in the team's scope.

    Those that changed since, then those retrieved most, then important ones, of which each run
    looks at the next STANDING. In each part they come in the order of their ids. The first run of
    all looks at everything.
    """
    given = cursor or {"part": _PARTS[0], "after": str(_FIRST), "seen": 0}
    part, after, seen = given["part"], UUID(given["after"]), given["seen"]
    more: dict[str, Json] = {}
    rows = in_scope(scope=scope).filter(id__gt=after).order_by("id")
    if part == "changed" and scope.since is not None:
        rows = rows.filter(id__in=changed_since(scope=scope, after=after))
    elif part == "used":
        more = {"bar": given.get("bar") or _bar(scope)}
        rows = rows.filter(id__in=_used(scope, after, more["bar"]))
    elif part == "standing":
        rows = rows.filter(importance__gte=IMPORTANT)
    page = list(rows[:PAGE])
    seen += len(page)
    is_standing = part == "standing"
    if len(page) == PAGE and not (is_standing and seen >= STANDING):
        # What the part goes by is worked out once.
        return Candidates(page, {"part": part, "after": str(page[-1].pk), "seen": seen, **more})
    if is_standing or scope.since is None:
        rest = str(page[-1].pk) if len(page) == PAGE else str(_FIRST)
        return Candidates(page, resume=rest if is_standing else None)
    following = _PARTS[_PARTS.index(part) + 1]
    begin = scope.resume.get(step.value, str(_FIRST)) if following == "standing" else str(_FIRST)
    return Candidates(page, {"part": following, "after": begin, "seen": 0})


def in_scope(*, scope: Scope) -> MemoryQuerySet:
    """The live memories that the run may change; call it in the team's scope."""
    rows = Memory.objects.filter(team_id=scope.team_id).live()
    if scope.end_user_id is not None:
        rows = rows.filter(end_user_id=scope.end_user_id)
    if scope.project_id is not None:
        rows = rows.filter(project_id=scope.project_id)
    return rows


def changed_since(*, scope: Scope, after: UUID) -> list[UUID]:
    """The next ids of what somebody, and no consolidation, changed since; by the log's times.

    Call it in the team's scope.
    """
    rows = MemoryLog.objects.filter(team_id=scope.team_id, at__gte=scope.since)
    rows = rows.filter(memory_id__gt=after).exclude(actor__in=_OWN)
    ids = rows.order_by("memory_id").values_list("memory_id", flat=True).distinct()
    # Some of them are no longer live: a page of the rest must still be whole.
    return list(ids[: 10 * PAGE])


def _bar(scope: Scope) -> int:
    """How often the top decile of what was retrieved since was retrieved at least."""
    rows = MemoryUsage.objects.filter(
        team_id=scope.team_id, last_accessed_at__gte=scope.since, retrieved__gt=0
    )
    least = rows.order_by("-retrieved").values_list("retrieved", flat=True)
    count = rows.count()
    return least[min(count - 1, int(count * TOP))] if count else 1


def _used(scope: Scope, after: UUID, bar: int) -> list[UUID]:
    """The next ids of what was retrieved since, and so often in all."""
    rows = MemoryUsage.objects.filter(
        team_id=scope.team_id,
        last_accessed_at__gte=scope.since,
        retrieved__gte=bar,
        memory_id__gt=after,
    )
    return list(rows.order_by("memory_id").values_list("memory_id", flat=True)[: 10 * PAGE])
