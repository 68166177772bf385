"""Merging what says the same: one stands, with the sources of both (seed 002, step 1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar
from uuid import UUID

from django.db.models import F

from memory.domain.audience import Reach, Viewer
from memory.domain.text.words import normalise_text
from memory.domain.types import Status, Verdict
from memory.models import Memory, MemoryRelation
from memory.satellites.consent.gate import is_guarded
from memory.satellites.lifecycle.models import ConsolidationChange
from memory.satellites.lifecycle.pairs import Found, JudgedFound, judged_pairs
from memory.satellites.lifecycle.runs import Batch
from memory.satellites.lifecycle.steps import Json, Kind, Page, Planned, Scope, Step
from memory.understanding.tools import Tools
from memory.writing.decisions.disputes import keep_merge, let_stand

SIMILARITY = 0.92
T = TypeVar("T")


def plan(scope: Scope, cursor: Json, tools: Tools) -> Page:
    """Merge memories of the same readers that a judge calls the same and one of which says all.

    Only their cosine of 0.92 makes a pair of them; where each has words of its own, both stay.
    """
    found = judged_pairs(
        scope=scope, step=Step.DEDUPLICATE, cursor=cursor, tools=tools, wanted=_is_near
    )
    planned: list[Planned] = []
    retired: set[UUID] = set()
    for each in found.pairs:
        sides = _loser_and_keeper(each)
        if sides is None or retired.intersection(side.pk for side in sides):
            continue
        loser, keeper = sides
        retired.add(loser.pk)
        planned.append(
            Planned(
                Kind.MERGE,
                loser.pk,
                f"the other says the same ({each.judgement.reason}), at a similarity of"
                f" {each.found.pair.neighbour.similarity:.2f}",
                other_id=keeper.pk,
                before={"status": Status.ACTIVE.value},
                after={"status": Status.SUPERSEDED.value, "superseded_by": str(keeper.pk)},
            )
        )
    return found.planning(planned)


def _is_near(found: Found) -> bool:
    neighbour = found.pair.neighbour
    return neighbour.similarity >= SIMILARITY and neighbour.reach is Reach.SAME


def _loser_and_keeper(judged: JudgedFound) -> tuple[Memory, Memory] | None:
    """Whoever has no word of its own goes, the later one of equals; None where both have.

    What is pinned goes for nobody, nor does what somebody is asked about or has a payload.
    """
    if judged.judgement.verdict is not Verdict.DUPLICATE:
        return None
    earlier, later = judged.found.sides
    for loser, keeper in ((later, earlier), (earlier, later)):
        if loser.status != Status.ACTIVE or keeper.status != Status.ACTIVE:
            continue
        if loser.is_pinned or loser.form or loser.memory_type != keeper.memory_type:
            continue
        if _words(loser) <= _words(keeper):
            return loser, keeper
    return None


def _words(memory: Memory) -> set[str]:
    return set(normalise_text(memory.content).split())


class Merge:
    """Retires a memory in favour of another, which takes over its sources."""

    def make(self, change: ConsolidationChange, batch: Batch) -> str:
        """Make it; returns why not, "" where it is made."""
        loser, keeper = batch.pair(change)
        if keeper.status != Status.ACTIVE:
            return f"what says the same is {keeper.status} by now"
        if loser.is_pinned:
            return "it was pinned since"
        if is_guarded(loser):
            return "it changes with a yes alone"
        Memory.objects.filter(team_id=batch.team_id, pk=keeper.pk).update(
            source_message_ids=_union(keeper.source_message_ids, loser.source_message_ids),
            source_external_ids=_union(keeper.source_external_ids, loser.source_external_ids),
            corroboration=F("corroboration") + loser.corroboration + 1,
        )
        let_stand(
            winner=keeper,
            loser=loser,
            viewer=Viewer(team_id=batch.team_id, actor=batch.actor),
        )
        keep_merge(keeper, [loser])
        return ""

    def take_back(self, change: ConsolidationChange, batch: Batch) -> str:
        """Part the two again."""
        MemoryRelation.objects.filter(
            team_id=batch.team_id,
            from_memory_id=change.other_id,
            to_memory_id=change.memory_id,
            relation_type="merged_from",
        ).delete()
        return ""


def _union(one: Sequence[T], other: Sequence[T]) -> list[T]:
    return list(dict.fromkeys([*one, *other]))
