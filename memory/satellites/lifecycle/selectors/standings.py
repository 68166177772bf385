"""Where memories stand by their use, and which of them a run ranks, forgets and purges.

Each part of the candidates is read from an index of its own, in the order of that index, so that
what a run costs grows with what is used or unimportant and not with the store.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeVar
from uuid import UUID

from django.db.models import Q, QuerySet

from memory.domain.tiers import (
    BACK_ACCESSES,
    HOT_DAYS,
    HOT_IMPORTANCE,
    KEPT_IMPORTANCE,
    OUTDATED_AFTER,
)
from memory.domain.types import Status, Tier
from memory.models import Memory, MemoryUsage
from memory.models.memory import LIVE
from memory.models.querysets import MemoryQuerySet
from memory.satellites.lifecycle.selectors.scope import Scope
from memory.satellites.lifecycle.steps import Json
from memory.selectors.versions import Stood, standings_of

PAGE = 500
# Of what is unimportant, a run looks at so many; the next one goes on after them.
UNIMPORTANT = 20_000
_Rows = TypeVar("_Rows", bound="QuerySet[Any, Any]")  # Any: of whatever model


@dataclass(frozen=True, slots=True)
class Standings:
    """A page of them; `cursor` is where the next one begins, `resume` where the next run does."""

    rows: Sequence[Stood]
    cursor: Json = None
    resume: Json = None


def to_rank(*, scope: Scope, cursor: Json) -> Standings:
    """The next memories that their use may move: told lately and not hot, then hot by use."""
    given = cursor or {"part": "used"}
    if given["part"] == "hot":
        rows = _in(scope).filter(
            status__in=LIVE,
            tier=Tier.HOT.value,
            is_pinned=False,
            importance__lt=HOT_IMPORTANCE,
            id__gt=UUID(given.get("after", str(UUID(int=0)))),
        )
        return _page(scope, rows.order_by("id"), part="hot", following=None)
    usages = MemoryUsage.objects.filter(
        team_id=scope.team_id,
        last_accessed_at__gte=scope.now - timedelta(days=HOT_DAYS),
        retrieved__gte=BACK_ACCESSES,
    )
    if "at" in given:
        usages = _behind(usages, "last_accessed_at", given, key="memory_id", backwards=True)
    told = list(usages.order_by("-last_accessed_at", "memory_id")[:PAGE])
    memories = _in(scope).filter(
        status__in=LIVE,
        tier__in=[Tier.WARM.value, Tier.COLD.value],
        id__in=[each.memory_id for each in told],
    )
    after: Json = {"part": "hot"}
    if len(told) == PAGE:
        at = told[-1].last_accessed_at
        assert at is not None
        after = {"part": "used", "at": at.isoformat(), "after": str(told[-1].memory_id)}
    return Standings(standings_of(memories=list(memories.order_by("id")), now=scope.now), after)


def to_forget(*, scope: Scope, cursor: Json, below: int, before: datetime) -> Standings:
    """The next memories that may turn cold or expire.

    What is superseded and not cold, then what held until a time that is over, then what has an
    importance under `below` and is older than `before`, the least important first.
    """
    given = cursor or {"part": "superseded"}
    rows = _in(scope)
    after = UUID(given.get("after", str(UUID(int=0))))
    if given["part"] == "superseded":
        rows = rows.filter(status=Status.SUPERSEDED.value, id__gt=after).exclude(
            tier=Tier.COLD.value
        )
        return _page(scope, rows.order_by("id"), part="superseded", following={"part": "outdated"})
    rows = rows.filter(status=Status.ACTIVE.value, is_pinned=False, importance__lt=KEPT_IMPORTANCE)
    if given["part"] == "outdated":
        rows = rows.exclude(tier=Tier.COLD.value).filter(
            valid_to__isnull=False, valid_to__lt=scope.now - OUTDATED_AFTER
        )
        if "at" in given:
            rows = _behind(rows, "valid_to", given)
        following = scope.resume.get("forget") or {"part": "unimportant", "importance": 1}
        return _page(
            scope,
            rows.order_by("valid_to", "id"),
            part="outdated",
            following={**following, "seen": 0},
            by="valid_to",
        )
    return _unimportant(scope, rows, given, below=below, before=before)


def _unimportant(
    scope: Scope, rows: MemoryQuerySet, given: Json, *, below: int, before: datetime
) -> Standings:
    importance, seen = given["importance"], given["seen"]
    following: Json = {"part": "unimportant", "importance": importance + 1, "seen": seen}
    if importance >= below:
        return Standings(())
    rows = rows.filter(importance=importance, created_at__lt=before)
    if "at" in given:
        rows = _behind(rows, "created_at", given)
    page = _page(
        scope,
        rows.order_by("created_at", "id"),
        part="unimportant",
        following=following if importance + 1 < below else None,
        by="created_at",
    )
    if page.cursor is None:
        return page
    seen += len(page.rows)
    go_on = {"importance": importance, **page.cursor, "seen": seen}
    return Standings(page.rows, *((None, go_on) if seen >= UNIMPORTANT else (go_on, None)))


def _in(scope: Scope) -> MemoryQuerySet:
    """What the run may change, whatever its status."""
    rows = Memory.objects.filter(team_id=scope.team_id)
    if scope.end_user_id is not None:
        rows = rows.filter(end_user_id=scope.end_user_id)
    if scope.project_id is not None:
        rows = rows.filter(project_id=scope.project_id)
    return rows


def _page(
    scope: Scope, rows: MemoryQuerySet, *, part: str, following: Json, by: str = ""
) -> Standings:
    """The next page of rows in their order, by the id or by the column and the id."""
    memories = list(rows[:PAGE])
    cursor = following
    if len(memories) == PAGE:
        last = memories[-1]
        at = {"at": getattr(last, by).isoformat()} if by else {}
        cursor = {"part": part, "after": str(last.pk), **at}
    return Standings(standings_of(memories=memories, now=scope.now), cursor)


def _behind(
    rows: _Rows, column: str, given: Json, *, key: str = "id", backwards: bool = False
) -> _Rows:
    """The rows after the last one of the page before, by the column and then by the id."""
    at, after = datetime.fromisoformat(given["at"]), UUID(given["after"])
    ordered, beyond = ("lte", "lt") if backwards else ("gte", "gt")
    # The first condition is what the index begins with.
    return rows.filter(
        Q(**{f"{column}__{beyond}": at}) | Q(**{f"{key}__gt": after}),
        **{f"{column}__{ordered}": at},
    )
