"""What judges said of pairs of memories, as far as it still holds (seed 004, §4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import TypeAlias
from uuid import UUID

from django.db.models import Count, Q

from memory.domain.types import Judgement, Verdict
from memory.models import Contradiction
from memory.satellites.lifecycle.models import JudgedPair

# Of two memories the earlier one, the later one and their cosine in hundredths.
PairKey: TypeAlias = tuple[UUID, UUID, int]
KEPT = timedelta(days=14)


def judgements_of(
    *, team_id: UUID, keys: Iterable[PairKey], judge: str, now: datetime
) -> dict[PairKey, Judgement]:
    """What that judge said of the pairs within the last 14 days, or any one in the run of `now`.

    Call it in the team's scope.
    """
    wanted = set(keys)
    rows = JudgedPair.objects.filter(
        Q(judge=judge, judged_at__gt=now - KEPT) | Q(judged_at=now),
        team_id=team_id,
        later_id__in={later for _, later, _ in wanted},
    )
    found = {
        (row.earlier_id, row.later_id, round(row.similarity * 100)): Judgement(
            Verdict(row.verdict), row.reason, row.confidence, row.judge
        )
        for row in rows
    }
    return {key: each for key, each in found.items() if key in wanted}


def judged_today(
    *, team_id: UUID, people: Iterable[UUID | None], now: datetime
) -> Mapping[UUID | None, int]:
    """How many pairs were judged about each of the people, or nobody, on the day (UTC) of `now`."""
    begins = now.replace(hour=0, minute=0, second=0, microsecond=0)
    wanted = set(people)
    whose = Q(end_user_id__in=wanted - {None})
    if None in wanted:
        whose |= Q(end_user_id=None)
    rows = JudgedPair.objects.filter(
        whose, team_id=team_id, judged_at__gte=begins, judged_at__lte=now
    )
    counts = rows.values("end_user_id").annotate(count=Count("pk")).order_by()
    return dict(counts.values_list("end_user_id", "count"))


def pairs_in_contradiction(*, team_id: UUID, ids: Iterable[UUID]) -> set[frozenset[UUID]]:
    """The pairs, one side among the ids, that somebody was asked about or decided on before."""
    rows = Contradiction.objects.filter(team_id=team_id, memory_b__isnull=False)
    wanted = list(ids)
    pairs = rows.filter(memory_a__in=wanted).values_list("memory_a_id", "memory_b_id")
    others = rows.filter(memory_b__in=wanted).values_list("memory_a_id", "memory_b_id")
    return {frozenset(pair) for pair in (*pairs, *others)}
