"""Contradictions that the write path could not see: of what was stored unchecked, or out of reach.

They are judged as a write would judge them, and end as supersessions and disputes.
"""

from __future__ import annotations

from uuid import UUID

from memory.domain.audience import Reach
from memory.domain.judgements import BOTH_VALID, as_carried_out
from memory.domain.types import Judgement, Status, Verdict
from memory.models import Contradiction
from memory.models.memory import LIVE
from memory.satellites.consent.gate import is_guarded
from memory.satellites.lifecycle.models import ConsolidationChange
from memory.satellites.lifecycle.pairs import Found, JudgedFound, judged_pairs
from memory.satellites.lifecycle.runs import Batch
from memory.satellites.lifecycle.steps import Json, Kind, Page, Planned, Scope, Step
from memory.understanding.tools import Tools
from memory.writing.conflicts import Conflict, Ruling, strategy_of
from memory.writing.rows import apply_version, record_conflicts, retire_superseded

_KINDS = {Verdict.SUPERSEDE: Kind.SUPERSEDE, Verdict.DISPUTE: Kind.DISPUTE}


def plan(scope: Scope, cursor: Json, tools: Tools) -> Page:
    """Supersede or dispute what a judge finds to conflict; each memory at most once a page."""
    found = judged_pairs(
        scope=scope, step=Step.CONTRADICTIONS, cursor=cursor, tools=tools, wanted=_is_live
    )
    planned: list[Planned] = []
    taken: set[UUID] = set()
    for each in found.pairs:
        change = _planned(each)
        if change is not None and taken.isdisjoint(change.memory_ids):
            planned.append(change)
            taken.update(change.memory_ids)
    return found.planning(planned)


def _is_live(found: Found) -> bool:
    return all(side.status in LIVE for side in found.sides)


def _planned(judged: JudgedFound) -> Planned | None:
    pair = judged.found.pair
    judgement = as_carried_out(judged.judgement, later_reach=pair.later_reach)
    kind = _KINDS.get(judgement.verdict)
    if kind is None:
        return None
    earlier, later = judged.found.sides
    if kind is Kind.SUPERSEDE and (earlier.is_pinned or earlier.status != Status.ACTIVE):
        kind = Kind.DISPUTE
    is_gone = kind is Kind.SUPERSEDE
    reach = pair.neighbour.reach
    return Planned(
        kind,
        earlier.pk,
        judgement.reason or "a judge finds that they conflict",
        other_id=later.pk,
        before={"status": earlier.status},
        after={
            "status": (Status.SUPERSEDED if is_gone else Status.DISPUTED).value,
            "judge": judgement.judge,
            "confidence": round(judgement.confidence, 3),
            # Who sees the earlier one beside the later one.
            "reach": (reach if pair.neighbour.memory is earlier else _turned(reach)).value,
        },
    )


def _turned(reach: Reach) -> Reach:
    return {Reach.WIDER: Reach.NARROWER, Reach.NARROWER: Reach.WIDER}.get(reach, reach)


class Conflicts:
    """Marks two memories as a write that stored the later one would have."""

    def make(self, change: ConsolidationChange, batch: Batch) -> str:
        """Make it; returns why not, "" where it is made."""
        earlier, later = batch.pair(change)
        if later.status not in LIVE:
            return f"the later one is {later.status} by now"
        verdict = Verdict(change.kind)
        judgement = Judgement(
            verdict, change.because, change.after["confidence"], change.after["judge"]
        )
        strategy = strategy_of(one=later.subject, other=earlier.subject, verdict=verdict)
        conflict = Conflict(earlier, strategy, judgement, reach=Reach(change.after["reach"]))
        ruling = Ruling((conflict,))
        if verdict is Verdict.SUPERSEDE and is_guarded(earlier):
            return "it changes with a yes alone"
        if verdict is Verdict.SUPERSEDE:
            apply_version(memory=later, ruling=ruling)
            retire_superseded(memory=later, ruling=ruling, actor=batch.actor)
            later.save(update_fields=["version", "supersedes", "is_pinned", "tier"])
        record_conflicts(ruled=[(later, ruling)], judge=judgement.judge)
        rows = Contradiction.objects.filter(
            team_id=batch.team_id, memory_a=earlier, memory_b=later
        ).order_by("-detected_at", "-id")
        change.result = {"contradiction": str(rows.values_list("id", flat=True)[0])}
        return ""

    def take_back(self, change: ConsolidationChange, batch: Batch) -> str:
        """Settle it as both valid, so that nobody is asked again."""
        row = Contradiction.objects.select_for_update().get(
            team_id=batch.team_id, pk=change.result["contradiction"]
        )
        by_judge = row.resolved_by.startswith("judge:")
        if row.resolved_at is not None and not by_judge:
            return "is in a contradiction that was settled since"
        row.resolution = BOTH_VALID
        row.resolution_note = "the consolidation that found it was taken back"
        row.resolved_by, row.resolved_at = batch.actor, batch.now
        row.save()
        return ""
