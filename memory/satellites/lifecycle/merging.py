"""Merges what says the same, and finds the contradictions that the write path could not see.

Of two memories that say the same one stands, with the sources of both (seed 002, step 1).
Contradictions are of what was stored unchecked or out of reach; they are judged as a write would
judge them, and end as supersessions and disputes.
"""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from django.db.models import F

from memory.domain.audience import Reach, Viewer
from memory.domain.judgements import BOTH_VALID, as_carried_out, as_trusted
from memory.domain.text.words import normalise_text
from memory.domain.types import Judgement, Status, Verdict
from memory.models import Contradiction, Memory, MemoryRelation
from memory.models.memory import LIVE
from memory.satellites.lifecycle.models import ConsolidationChange, Kind, Step
from memory.satellites.lifecycle.pairs import Found, judged_pairs
from memory.satellites.lifecycle.steps import Batch, Executor, Json, Page, Planned, Scope
from memory.understanding.tools import Tools
from memory.writing.conflicts import Conflict, Ruling, strategy_of
from memory.writing.consent import consent
from memory.writing.decisions.disputes import keep_merge, let_stand
from memory.writing.rows import apply_version, record_conflicts, retire_superseded

SIMILARITY = 0.92
# Nobody is there who could say that a run is wrong: from here on 96 of 100 conflicts of the small
# judge are right, of those that a write asks about 89.
SURE_OF_CONFLICT = 0.8
_GUARDED = "it changes with a yes alone"
_KINDS = {Verdict.SUPERSEDE: Kind.SUPERSEDE, Verdict.DISPUTE: Kind.DISPUTE}
_TURNED = {Reach.WIDER: Reach.NARROWER, Reach.NARROWER: Reach.WIDER}


def plan_merges(scope: Scope, cursor: Json, tools: Tools) -> Page:
    """Merges memories of the same readers, at a cosine of 0.92, of which one says all."""
    pairs, page = judged_pairs(
        scope=scope, step=Step.DEDUPLICATE, cursor=cursor, tools=tools, wanted=_is_near
    )
    planned: list[Planned] = []
    retired: set[UUID] = set()
    for found, judgement in pairs:
        sides = _loser_and_keeper(found, judgement)
        if sides is None or retired.intersection(side.pk for side in sides):
            continue
        loser, keeper = sides
        retired.add(loser.pk)
        planned.append(
            Planned(
                Kind.MERGE,
                loser.pk,
                f"the other says the same ({judgement.reason}), at a similarity of"
                f" {found.pair.neighbour.similarity:.2f}",
                other_id=keeper.pk,
                before={"status": Status.ACTIVE.value},
                after={"status": Status.SUPERSEDED.value, "superseded_by": str(keeper.pk)},
            )
        )
    return replace(page, planned=tuple(planned))


def _is_near(found: Found) -> bool:
    neighbour = found.pair.neighbour
    return neighbour.similarity >= SIMILARITY and neighbour.reach is Reach.SAME


def _loser_and_keeper(found: Found, judgement: Judgement) -> tuple[Memory, Memory] | None:
    """The active one without words of its own, then the other; None where there is none."""
    if judgement.verdict is not Verdict.DUPLICATE:
        return None
    earlier, later = found.sides
    for loser, keeper in ((later, earlier), (earlier, later)):
        if loser.status != Status.ACTIVE or keeper.status != Status.ACTIVE:
            continue
        if loser.is_pinned or loser.form or loser.memory_type != keeper.memory_type:
            continue
        if keeper.is_unconfirmed and not loser.is_unconfirmed:
            continue
        if _words(loser) <= _words(keeper):
            return loser, keeper
    return None


def _words(memory: Memory) -> set[str]:
    return set(normalise_text(memory.content).split())


def _merge(change: ConsolidationChange, batch: Batch) -> str:
    """Retires a memory in favour of another, which takes over its sources."""
    loser, keeper = batch.pair(change)
    if keeper.status != Status.ACTIVE:
        return f"what says the same is {keeper.status} by now"
    if keeper.is_unconfirmed and not loser.is_unconfirmed:
        return "what says the same is unconfirmed"
    if loser.is_pinned:
        return "it was pinned since"
    if consent().guarded_field(loser) is not None:
        return _GUARDED
    Memory.objects.filter(team_id=batch.team_id, pk=keeper.pk).update(
        source_message_ids=list(
            dict.fromkeys([*keeper.source_message_ids, *loser.source_message_ids])
        ),
        source_external_ids=list(
            dict.fromkeys([*keeper.source_external_ids, *loser.source_external_ids])
        ),
        corroboration=F("corroboration") + loser.corroboration + 1,
    )
    let_stand(winner=keeper, loser=loser, viewer=Viewer(team_id=batch.team_id, actor=batch.actor))
    keep_merge(keeper, [loser])
    return ""


def _part(change: ConsolidationChange, batch: Batch) -> str:
    MemoryRelation.objects.filter(
        team_id=batch.team_id,
        from_memory_id=change.other_id,
        to_memory_id=change.memory_id,
        relation_type="merged_from",
    ).delete()
    return ""


MERGE = Executor(_merge, _part)


def plan_conflicts(scope: Scope, cursor: Json, tools: Tools) -> Page:
    """Supersedes or disputes what a judge finds to conflict; each memory at most once a page."""
    pairs, page = judged_pairs(
        scope=scope, step=Step.CONTRADICTIONS, cursor=cursor, tools=tools, wanted=_is_live
    )
    planned: list[Planned] = []
    taken: set[UUID] = set()
    for found, judgement in pairs:
        change = _planned_conflict(found, judgement)
        if change is not None and taken.isdisjoint(change.memory_ids):
            planned.append(change)
            taken.update(change.memory_ids)
    return replace(page, planned=tuple(planned))


def _is_live(found: Found) -> bool:
    return all(side.status in LIVE for side in found.sides)


def _as_trusted(judgement: Judgement, earlier: Memory, later: Memory) -> Judgement:
    return as_trusted(
        judgement,
        is_earlier_confirmed=not earlier.is_unconfirmed,
        is_later_confirmed=not later.is_unconfirmed,
    )


def _planned_conflict(found: Found, judgement: Judgement) -> Planned | None:
    pair = found.pair
    earlier, later = found.sides
    judgement = as_carried_out(judgement, later_reach=pair.later_reach)
    is_standing = earlier.status == Status.ACTIVE and not earlier.is_pinned
    if judgement.verdict is Verdict.SUPERSEDE and not is_standing:
        judgement = replace(judgement, verdict=Verdict.DISPUTE)
    judgement = _as_trusted(judgement, earlier, later)
    kind = _KINDS.get(judgement.verdict)
    if kind is None or judgement.confidence < SURE_OF_CONFLICT:
        return None
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
            "reach": (
                reach if pair.neighbour.memory is earlier else _TURNED.get(reach, reach)
            ).value,
        },
    )


def _mark(change: ConsolidationChange, batch: Batch) -> str:
    """Marks two memories as a write that stored the later one would have."""
    earlier, later = batch.pair(change)
    if later.status not in LIVE:
        return f"the later one is {later.status} by now"
    verdict = Verdict(change.kind)
    judgement = Judgement(
        verdict, change.because, change.after["confidence"], change.after["judge"]
    )
    if _as_trusted(judgement, earlier, later).verdict is not verdict:
        return "only one of them is confirmed"
    strategy = strategy_of(one=later.subject, other=earlier.subject, verdict=verdict)
    conflict = Conflict(earlier, strategy, judgement, reach=Reach(change.after["reach"]))
    ruling = Ruling((conflict,))
    if verdict is Verdict.SUPERSEDE:
        if consent().guarded_field(earlier) is not None:
            return _GUARDED
        apply_version(memory=later, ruling=ruling)
        retire_superseded(memory=later, ruling=ruling, actor=batch.actor)
        later.save(update_fields=["version", "supersedes", "is_pinned", "tier"])
    record_conflicts(ruled=[(later, ruling)], judge=judgement.judge)
    rows = Contradiction.objects.filter(team_id=batch.team_id, memory_a=earlier, memory_b=later)
    latest = rows.order_by("-detected_at", "-id").values_list("id", flat=True)[0]
    change.result = {"contradiction": str(latest)}
    return ""


def _settle(change: ConsolidationChange, batch: Batch) -> str:
    """Settles the contradiction as both valid, so that nobody is asked again."""
    row = Contradiction.objects.select_for_update().get(
        team_id=batch.team_id, pk=change.result["contradiction"]
    )
    if row.resolved_at is not None and not row.resolved_by.startswith("judge:"):
        return "is in a contradiction that was settled since"
    row.resolution = BOTH_VALID
    row.resolution_note = "the consolidation that found it was undone"
    row.resolved_by, row.resolved_at = batch.actor, batch.now
    row.save()
    return ""


CONFLICT = Executor(_mark, _settle)
