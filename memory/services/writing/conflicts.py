"""What a new memory does to those it meets: repeat, supersede, dispute or stand beside them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from django.utils import timezone

from memory.clients.tools import Tools
from memory.domain.audience import Reach
from memory.domain.judging.hearing import as_carried_out
from memory.domain.judging.paths import is_specific
from memory.domain.types import Judgement, Status, Strategy, Tier, Verdict
from memory.models import Contradiction, Memory
from memory.selectors.meeting.comparing import locked_memories
from memory.selectors.meeting.neighbours import Neighbour
from memory.services.writing.decisions import NOTHING_DECIDED, Decided
from memory.services.writing.drafts import MemoryDraft
from memory.services.writing.ended_disputes import SUPERSEDED, release_disputes
from memory.services.writing.marking import save_marks
from memory.services.writing.matters import Pair, pairs_to_judge, strategy_of
from memory.services.writing.rulings import Conflict, Ruling

_STATED = Judgement(Verdict.SUPERSEDE, "replaced on request")


def _replaced(draft: MemoryDraft) -> Iterable[Memory]:
    if not draft.replaces:
        return ()
    return Memory.objects.filter(team_id=draft.team_id, pk__in=draft.replaces)


def rule_on(
    *,
    draft: MemoryDraft,
    neighbours: Sequence[Neighbour],
    tools: Tools,
    decided: Decided = NOTHING_DECIDED,
) -> Ruling:
    """Judge the draft against each neighbour that may speak of the same thing.

    Neighbours share the subject, or their words and vectors say that they are about one matter.
    An equal fact ends the search. The judge is asked in the order of time, whichever of the two
    arrived first, and not at all of what people decided; words that they decided against retire
    nothing.
    """
    conflicts = [
        Conflict(each, Strategy.SAME_SUBJECT, _STATED, is_stated=True) for each in _replaced(draft)
    ]
    conflicts += [
        _lost_again(draft, each, decided.lost_to[each.memory.pk])
        for each in neighbours
        if each.memory.pk in decided.lost_to
    ]
    settled = {*decided.lost_to, *decided.valid_beside}
    undecided = [each for each in neighbours if each.memory.pk not in settled]
    for pair in pairs_to_judge(draft=draft, neighbours=undecided, tools=tools):
        existing = pair.memory
        judgement = as_carried_out(tools.judge.judge(existing=pair.existing, new=pair.new))
        if judgement.verdict == Verdict.COEXIST or not pair.hearing.admits(judgement):
            continue
        if judgement.verdict == Verdict.DUPLICATE:
            if pair.reach != Reach.SAME:
                continue  # other readers: each needs a memory of its own
            stated = tuple(each for each in conflicts if each.is_stated)
            return Ruling(conflicts=stated, duplicate_of=existing)
        strategy = strategy_of(same_subject=pair.same_subject, verdict=judgement.verdict)
        conflicts.append(
            Conflict(
                existing,
                strategy,
                _as_allowed(judgement, pair, decided),
                pair.new_is_older,
                reach=pair.reach,
            )
        )
    return Ruling(conflicts=tuple(conflicts), objection=decided.objection)


def _lost_again(draft: MemoryDraft, neighbour: Neighbour, judgement: Judgement) -> Conflict:
    memory = neighbour.memory
    same_subject = is_specific(draft.subject) and draft.subject == memory.subject
    return Conflict(
        memory,
        strategy_of(same_subject=same_subject, verdict=judgement.verdict),
        judgement,
        draft.created_at < memory.created_at,
        reach=neighbour.reach,
    )


def _as_allowed(judgement: Judgement, pair: Pair, decided: Decided) -> Judgement:
    if judgement.verdict == Verdict.SUPERSEDE and decided.is_against and not pair.new_is_older:
        reason = f"{judgement.reason}; but people decided against the later one"
        return replace(judgement, verdict=Verdict.DISPUTE, reason=reason)
    return _within_reach(judgement, pair)


def _within_reach(judgement: Judgement, pair: Pair) -> Judgement:
    """What fewer readers see never retires what more of them see: that is a dispute for people."""
    later = Reach.NARROWER if pair.new_is_older else Reach.WIDER
    if judgement.verdict == Verdict.SUPERSEDE and pair.reach == later:
        reason = f"{judgement.reason}; others see the earlier one and not the later one"
        return replace(judgement, verdict=Verdict.DISPUTE, reason=reason)
    return judgement


def hold(ruling: Ruling) -> Ruling | None:
    """The same ruling over its memories as they stand now, locked until the transaction ends.

    None when one of them left the live ones in between: the ruling must be made anew.
    """
    met = {memory.pk for memory in ruling.met}
    if not met:
        return ruling
    team_id = ruling.met[0].team_id
    fresh = locked_memories(team_id=team_id, ids=met)
    if len(fresh) < len(met):
        return None
    return Ruling(
        conflicts=tuple(replace(each, memory=fresh[each.memory.pk]) for each in ruling.conflicts),
        duplicate_of=fresh[ruling.duplicate_of.pk] if ruling.duplicate_of else None,
        objection=ruling.objection,
    )


def apply_version(*, memory: Memory, ruling: Ruling) -> None:
    """Continue the chain of what the memory supersedes, or step back behind what is newer.

    Call it before what it replaces is retired, which unpins that.
    """
    if ruling.continued:
        if memory.supersedes_id is None:
            memory.supersedes = ruling.continued[0]
        memory.version = max(memory.version, *(old.version + 1 for old in ruling.continued))
    if ruling.superseded:
        memory.is_pinned = memory.is_pinned or any(old.is_pinned for old in ruling.superseded)
        if memory.is_pinned:
            memory.tier = Tier.HOT.value
    if ruling.superseded_by is not None:
        memory.status = Status.SUPERSEDED.value
        memory.tier = Tier.COLD.value
        memory.superseded_by = ruling.superseded_by


def retire_superseded(*, memory: Memory, ruling: Ruling, actor: str) -> None:
    """Turn what the new memory replaces cold, naming its successor, before that is inserted."""
    for old in ruling.superseded:
        release_disputes(memory=old, actor=actor, note=SUPERSEDED)
        old.status = Status.SUPERSEDED.value
        old.tier = Tier.COLD.value
        old.is_pinned = False
        old.superseded_by = memory
        save_marks([old])


def record_conflicts(*, ruled: Sequence[tuple[Memory, Ruling]], judge: str) -> None:
    """Mark the disputes of stored new memories and keep their conflicts.

    Disputed memories and the new one name each other, but what fewer readers see is never named by
    what more of them see. Every conflict is kept as a contradiction: settled for a supersession,
    open for a dispute and for what people said before is wrong. No memory may be met by two of the
    rulings.
    """
    now = timezone.now()
    met = {other.pk: other for _, ruling in ruled for other in ruling.disputed}
    if met:
        # Retiring a third memory may have ended a dispute of one of these a moment ago.
        team_id = ruled[0][0].team_id
        rows = Memory.objects.filter(team_id=team_id, pk__in=met)
        for pk, contradicts in rows.values_list("pk", "contradicts"):
            met[pk].contradicts = contradicts
    save_marks(marked for memory, ruling in ruled for marked in _mark_disputes(memory, ruling))
    Contradiction.objects.bulk_create(
        each for memory, ruling in ruled for each in _recorded(memory, ruling, judge=judge, now=now)
    )


def _mark_disputes(memory: Memory, ruling: Ruling) -> Iterator[Memory]:
    """Let the new memory and those it is in dispute with name each other; the changed ones."""
    disputed = ruling.disputed
    reach = {each.memory.pk: each.reach for each in ruling.conflicts}
    for other in disputed:
        if reach[other.pk] != Reach.WIDER:
            other.status = Status.DISPUTED.value
            other.contradicts = [*other.contradicts, memory.pk]
            yield other
    marks = [other.pk for other in disputed if reach[other.pk] != Reach.NARROWER]
    if marks or ruling.is_objected:
        memory.status = Status.DISPUTED.value
        memory.contradicts = marks
        yield memory


def _recorded(
    memory: Memory, ruling: Ruling, *, judge: str, now: datetime
) -> Iterator[Contradiction]:
    for each in ruling.recorded:
        yield _contradiction(memory, each, judge=judge, now=now)
    if ruling.objection is not None and ruling.is_objected:
        yield Contradiction(
            team_id=memory.team_id,
            memory_a=memory,
            strategy=Strategy.FEEDBACK.value,
            judge=ruling.objection.judge,
            verdict=ruling.objection.verdict.value,
            reason=ruling.objection.reason,
        )


def _contradiction(
    memory: Memory, conflict: Conflict, *, judge: str, now: datetime
) -> Contradiction:
    first, second = conflict.memory, memory
    if conflict.new_is_older:
        first, second = second, first
    row = Contradiction(
        team_id=memory.team_id,
        memory_a=first,
        memory_b=second,
        strategy=conflict.strategy.value,
        judge=conflict.judgement.judge or judge,
        verdict=conflict.judgement.verdict.value,
        reason=conflict.judgement.reason,
    )
    if conflict.judgement.verdict == Verdict.SUPERSEDE:
        row.resolution = "b_wins"
        row.resolved_by = f"judge:{row.judge}"
        row.resolved_at = now
    return row
