"""What a ruling leaves on stored memories: successors, disputes and contradictions.

And how disputes end when one of their sides leaves the live memories.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from django.db.models import Q
from django.utils import timezone

from memory.domain.audience import Reach
from memory.domain.judgements import B_WINS
from memory.domain.types import Status, Strategy, Tier, Verdict
from memory.models import Contradiction, Memory
from memory.selectors.sql_files import load_sql_parts
from memory.writing.write.conflicts import Conflict, Ruling
from memory.writing.write.prior_decisions import SUPERSEDED
from teams.prepared import run_prepared

_MARK = load_sql_parts(__file__, "write_path.sql")["mark"]


def apply_version(*, memory: Memory, ruling: Ruling) -> None:
    """Continue the chain of what the memory supersedes, or put it behind what is newer.

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
        memory.is_pinned = False
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
    """Mark the disputes of stored new memories and keep their conflicts as contradictions.

    A contradiction is settled for a supersession, open for a dispute and for what people said
    before is wrong. No stored memory may be in two of the rulings.
    """
    now = timezone.now()
    disputed = {each.memory.pk: each.memory for _, ruling in ruled for each in ruling.disputed}
    if disputed:
        # Retiring a third memory may have ended a dispute of one of these a moment ago.
        rows = Memory.objects.filter(team_id=ruled[0][0].team_id, pk__in=disputed)
        for pk, contradicts in rows.values_list("pk", "contradicts"):
            disputed[pk].contradicts = contradicts
    save_marks(marked for memory, ruling in ruled for marked in _mark_disputes(memory, ruling))
    Contradiction.objects.bulk_create(
        each for memory, ruling in ruled for each in _contradictions(memory, ruling, judge, now)
    )


def save_marks(memories: Iterable[Memory]) -> None:
    """Store status, tier, pin, successor and disputes of stored memories of one team.

    Each is locked by this transaction, or new in it.
    """
    rows = sorted(memories, key=lambda memory: memory.pk)
    if not rows:
        return
    run_prepared(
        _MARK,
        [
            rows[0].team_id,
            [memory.pk for memory in rows],
            [memory.status for memory in rows],
            [memory.tier for memory in rows],
            [memory.is_pinned for memory in rows],
            [memory.superseded_by_id for memory in rows],
            ["{" + ",".join(map(str, memory.contradicts)) + "}" for memory in rows],
        ],
    )


def _mark_disputes(memory: Memory, ruling: Ruling) -> Iterator[Memory]:
    """Let the memory and those it is in dispute with name each other; yields the changed ones.

    What fewer readers see is never named by what more of them see.
    """
    marks = [each.memory.pk for each in ruling.disputed if each.reach is not Reach.NARROWER]
    for each in ruling.disputed:
        if each.reach is not Reach.WIDER:
            each.memory.status = Status.DISPUTED.value
            each.memory.contradicts = [*each.memory.contradicts, memory.pk]
            yield each.memory
    if marks or ruling.is_objected:
        memory.status = Status.DISPUTED.value
        memory.contradicts = list(dict.fromkeys([*memory.contradicts, *marks]))
        yield memory


def _contradictions(
    memory: Memory, ruling: Ruling, judge: str, now: datetime
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
    sides = (conflict.memory, memory)
    first, second = reversed(sides) if conflict.new_is_older else sides
    row = Contradiction(
        team_id=memory.team_id,
        memory_a=first,
        memory_b=second,
        strategy=conflict.strategy.value,
        judge=conflict.judgement.judge or judge,
        verdict=conflict.judgement.verdict.value,
        reason=conflict.judgement.reason,
    )
    if conflict.judgement.verdict is Verdict.SUPERSEDE:
        row.resolution = B_WINS
        row.resolved_by = f"judge:{row.judge}"
        row.resolved_at = now
    return row


def release_disputes(*, memory: Memory, actor: str, note: str) -> None:
    """End the open disputes of a memory that leaves the live ones: the other side stands.

    A memory left without any dispute is active again. The caller saves `memory`.
    """
    still_open = Contradiction.objects.filter(team_id=memory.team_id, resolved_at=None)
    # The other side may name this one without being named by it.
    about = still_open.filter(Q(memory_a=memory) | Q(memory_b=memory))
    pairs = list(about.values_list("memory_a_id", "memory_b_id"))
    partners = {pk for pair in pairs for pk in pair if pk}
    others = {
        row.pk: row
        for row in Memory.objects.select_for_update()
        .filter(team_id=memory.team_id, pk__in={*memory.contradicts, *partners} - {memory.pk})
        .order_by("pk")
    }
    for other in others.values():
        other.contradicts = [each for each in other.contradicts if each != memory.pk]
        settle_status(memory=other)
    memory.contradicts = []
    if not pairs:
        return
    now = timezone.now()
    settled = {"resolution_note": note, "resolved_by": actor, "resolved_at": now}
    still_open.filter(memory_a=memory).update(resolution="b_wins", **settled)
    still_open.filter(memory_b=memory).update(resolution="a_wins", **settled)


def settle_status(*, memory: Memory) -> None:
    """Make a memory active again unless it contradicts another or is said to be wrong; save it.

    Pin, importance and tier are saved as the caller has them.
    """
    if memory.status == Status.DISPUTED and not memory.contradicts:
        said_wrong = Contradiction.objects.filter(
            team_id=memory.team_id, memory_a=memory, memory_b=None, resolved_at=None
        )
        if not said_wrong.exists():
            memory.status = Status.ACTIVE.value
    memory.save(update_fields=["status", "contradicts", "is_pinned", "importance", "tier"])
