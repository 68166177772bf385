"""Contradictions that are open, and the queue of those that wait for a decision."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import (
    Case,
    Count,
    Exists,
    F,
    FloatField,
    IntegerField,
    Max,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    UUIDField,
    Value,
    When,
    Window,
)
from django.db.models.expressions import CombinedExpression
from django.db.models.functions import Coalesce, Extract, Now

from memory.domain.audience import Viewer
from memory.domain.judgements import BOTH_VALID
from memory.models import Contradiction, Memory, MemoryUsage, Settlement


def contradictions_visible_to(viewer: Viewer) -> QuerySet[Contradiction, Contradiction]:
    """Returns the contradictions of which the viewer may see both sides."""
    seen = Memory.objects.visible_to(viewer)
    return Contradiction.objects.filter(
        Exists(seen.filter(pk=OuterRef("memory_a_id"))),
        Q(memory_b=None) | Exists(seen.filter(pk=OuterRef("memory_b_id"))),
        team_id=viewer.team_id,
    ).select_related("memory_a", "memory_b")


def open_contradictions_among(*, viewer: Viewer, memory_ids: Sequence[UUID]) -> list[Contradiction]:
    """Returns the unresolved contradictions of any of these memories, newest first."""
    touching = Q(memory_a_id__in=memory_ids) | Q(memory_b_id__in=memory_ids)
    rows = contradictions_visible_to(viewer).filter(touching, resolved_at=None)
    return list(rows.order_by("-detected_at")) if memory_ids else []


def count_open_contradictions() -> int:
    """Returns the number of unresolved contradictions of the scope's teams."""
    return Contradiction.objects.filter(resolved_at=None).count()


def recorded_pairs(*, team_id: UUID, ids: Sequence[UUID]) -> set[frozenset[UUID]]:
    """Returns the pairs among those memories ever recorded as a contradiction; in scope."""
    rows = Contradiction.objects.filter(
        team_id=team_id, memory_a__in=ids, memory_b__in=ids
    ).values_list("memory_a_id", "memory_b_id")
    return {frozenset(pair) for pair in rows}


_DAY_SECONDS = 86_400.0
_MAX_REASONS = 8
_QUOTED = re.compile(r"[\"“][^\"“”]*[\"”]")


@dataclass(frozen=True, slots=True)
class JudgeRecord:
    """Settlements of what was found for one reason: `both_valid` of all `settled` were valid."""

    strategy: str
    judge: str
    reason: str
    settled: int
    both_valid: int

    @property
    def strategy_words(self) -> str:
        return self.strategy.replace("_", " ")

    @property
    def percent(self) -> int:
        """The share that was no contradiction."""
        return round(100 * self.both_valid / self.settled)


def with_queue_columns(rows: QuerySet[Contradiction]) -> QuerySet[Contradiction, Any]:
    """Adds the columns by which the queue is sorted.

    `uses` counts the retrievals of both sides, `weight` is the days of waiting times `uses` + 1.
    `group` is the memory in more than one open contradiction, or the row's own id, and
    `group_weight` the greatest weight in the group.
    """
    # Any: rows with annotations
    of_a, of_b = _open_about("memory_a_id"), _open_about("memory_b_id")
    waited = days_since("detected_at")
    return (
        rows.annotate(
            uses=retrieved("memory_a_id") + retrieved("memory_b_id"), of_a=of_a, of_b=of_b
        )
        .annotate(
            weight=waited * (Value(1.0) + F("uses")),
            group=Case(
                When(of_a__gt=1, of_a__gte=F("of_b"), then=F("memory_a_id")),
                When(of_b__gt=1, then=F("memory_b_id")),
                default=F("id"),
                output_field=UUIDField(),
            ),
        )
        .annotate(group_weight=Window(Max("weight"), partition_by=[F("group")]))
    )


def judge_records() -> list[JudgeRecord]:
    """Returns by what found them how many settled pairs were no contradiction, the worst first.

    Only decisions of people that hold count, and only of pairs. Quotes in reasons are left out, so
    that equal reasons count together.
    """
    rows = (
        Settlement.objects.filter(undone_at=None, contradiction__memory_b__isnull=False)
        .order_by()
        .values_list(*(f"contradiction__{name}" for name in ("strategy", "judge", "reason")))
        .annotate(settled=Count("pk"), both=Count("pk", filter=Q(resolution=BOTH_VALID)))
    )
    settled: Counter[tuple[str, str, str]] = Counter()
    both_valid: Counter[tuple[str, str, str]] = Counter()
    for strategy, judge, reason, all_of_it, both in rows:
        key = strategy, judge, _QUOTED.sub("“…”", reason)
        settled[key] += all_of_it
        both_valid[key] += both
    worst = sorted(both_valid.items(), key=lambda item: (-item[1], item[0]))[:_MAX_REASONS]
    return [JudgeRecord(*key, settled[key], both) for key, both in worst if both]


def days_since(field: str) -> CombinedExpression:
    """Returns the days from that time to now."""
    return Extract(Now() - F(field), "epoch", output_field=FloatField()) / _DAY_SECONDS


def retrieved(side: str) -> Coalesce:
    """Returns how often the memory in that column was retrieved."""
    usage = MemoryUsage.objects.filter(team_id=OuterRef("team_id"), memory_id=OuterRef(side))
    return Coalesce(Subquery(usage.values("retrieved")[:1]), 0)


def _open_about(side: str) -> Coalesce:
    rows = Contradiction.objects.filter(
        Q(memory_a_id=OuterRef(side)) | Q(memory_b_id=OuterRef(side)),
        team_id=OuterRef("team_id"),
        resolved_at=None,
    )
    counted = rows.order_by().values("team_id").annotate(count=Count("pk")).values("count")
    return Coalesce(Subquery(counted, output_field=IntegerField()), 0)
