"""Keeps what a settlement changed, so that it can be taken back wholly."""

from __future__ import annotations

from uuid import UUID

from django.db.models import Max, Min, Q
from django.utils import timezone

from audit.models import MemoryLog
from memory.models import Contradiction, Memory, Settlement
from memory.services.write.prior_decisions import LOST, SUPERSEDED


class SettlementRecord:
    """Notes where the log stands before a settlement changes anything, and keeps what it wrote.

    Make it inside the settlement's transaction, once the contradiction and both sides are locked.
    """

    def __init__(self, contradiction: Contradiction) -> None:
        log = MemoryLog.objects.filter(team_id=contradiction.team_id)
        self._contradiction = contradiction
        self._before: int = log.order_by("-seq").values_list("seq", flat=True).first() or 0
        self._began_at = timezone.now()

    def keep(self, *, merged: Memory | None) -> Settlement:
        """Store the settlement, after all of its changes and before the transaction ends."""
        row = self._contradiction
        assert row.resolved_at is not None
        settlement = Settlement(
            team_id=row.team_id,
            contradiction=row,
            resolution=row.resolution,
            actor=row.resolved_by,
            settled_at=row.resolved_at,
            merged_memory=merged,
        )
        written = MemoryLog.objects.filter(team_id=row.team_id, seq__gt=self._before)
        # Both sides are locked: a later row about one of them is of this transaction.
        sides = [each for each in (row.memory_a_id, row.memory_b_id) if each]
        own = written.filter(memory_id__in=sides)
        settlement.commit_id = own.values_list("commit_id", flat=True).first()
        if settlement.commit_id is not None:
            written = written.filter(commit_id=settlement.commit_id)
            settlement.first_seq, settlement.last_seq = written.aggregate(
                first=Min("seq"), last=Max("seq")
            ).values()
            settlement.ended = self._ended(set(written.values_list("memory_id", flat=True)))
        settlement.save(force_insert=True)
        return settlement

    def _ended(self, changed: set[UUID]) -> list[UUID]:
        """The other contradictions that ended because a side of them left the live memories."""
        row = self._contradiction
        rows = Contradiction.objects.filter(
            Q(memory_a__in=changed) | Q(memory_b__in=changed),
            team_id=row.team_id,
            resolved_by=row.resolved_by,
            resolved_at__gte=self._began_at,
            resolution_note__in=(LOST, SUPERSEDED),
        )
        return list(rows.exclude(pk=row.pk).order_by("pk").values_list("pk", flat=True))
