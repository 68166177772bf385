"""Keeps what a settlement changed, so that it can be taken back wholly."""

from __future__ import annotations

from uuid import UUID

from django.db.models import Q
from django.utils import timezone

from memory.models import Contradiction, Memory, Settlement
from memory.selectors.log_changes import LogMark, ids_in
from memory.services.write.prior_decisions import LOST, SUPERSEDED


class SettlementRecord:
    """Notes where the log stands before a settlement changes anything, and keeps what it wrote.

    Make it inside the settlement's transaction, once the contradiction and both sides are locked.
    """

    def __init__(self, contradiction: Contradiction) -> None:
        self._contradiction = contradiction
        self._mark = LogMark(team_id=contradiction.team_id)
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
        written = self._mark.written(
            locked=[each for each in (row.memory_a_id, row.memory_b_id) if each]
        )
        if written is not None:
            settlement.commit_id = written.commit_id
            settlement.first_seq, settlement.last_seq = written.first, written.last
            settlement.ended = self._ended(ids_in(ranges=[written]))
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
