"""What a new memory does to those it meets: repeat, supersede, dispute or stand beside them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from django.db.models import Q
from django.utils import timezone

from memory.clients.tools import Tools
from memory.domain.audience import Reach
from memory.domain.judging.relatedness import Change, is_specific, names_change, relatedness
from memory.domain.types import Judgement, Statement, Status, Strategy, Tier, Verdict
from memory.models import Contradiction, Memory
from memory.selectors.comparing import locked_memories
from memory.selectors.neighbours import Neighbour
from memory.services.drafts import MemoryDraft, Outcome
from memory.services.marking import save_marks

_STATED = Judgement(Verdict.SUPERSEDE, "replaced on request")


@dataclass(frozen=True, slots=True)
class Conflict:
    """One memory that the new one conflicts with, and what the judge said.

    `is_stated` marks one that the draft itself says it replaces: no judge was asked. `reach` says
    whether others see the met memory than will see the new one.
    """

    memory: Memory
    strategy: Strategy
    judgement: Judgement
    new_is_older: bool = False
    is_stated: bool = False
    reach: Reach = Reach.SAME


@dataclass(frozen=True, slots=True)
class Ruling:
    """What is to happen with a draft."""

    conflicts: tuple[Conflict, ...] = ()
    duplicate_of: Memory | None = None

    @property
    def met(self) -> list[Memory]:
        """All memories that it is about."""
        rows = [each.memory for each in self.conflicts]
        return rows if self.duplicate_of is None else [*rows, self.duplicate_of]

    @property
    def superseded(self) -> list[Memory]:
        """The memories that the new one replaces, nearest first."""
        return [
            each.memory
            for each in self.conflicts
            if each.judgement.verdict == Verdict.SUPERSEDE and not each.new_is_older
        ]

    @property
    def continued(self) -> list[Memory]:
        """Those of them whose chain of versions the new one goes on with.

        One that only an agent sees is not named by what all see.
        """
        narrower = {each.memory.pk for each in self.conflicts if each.reach == Reach.NARROWER}
        return [memory for memory in self.superseded if memory.pk not in narrower]

    @property
    def superseded_by(self) -> Memory | None:
        """The newer memory that already replaces the arriving older one."""
        for each in self.conflicts:
            if each.judgement.verdict == Verdict.SUPERSEDE and each.new_is_older:
                return each.memory
        return None

    @property
    def disputed(self) -> list[Memory]:
        """The memories that the new one is in dispute with."""
        if self.superseded_by is not None:
            return []
        return [each.memory for each in self.conflicts if each.judgement.verdict == Verdict.DISPUTE]

    @property
    def recorded(self) -> list[Conflict]:
        """The conflicts that are kept as contradictions."""
        disputed = {memory.pk for memory in self.disputed}
        return [
            each
            for each in self.conflicts
            if not each.is_stated
            and (each.judgement.verdict == Verdict.SUPERSEDE or each.memory.pk in disputed)
        ]

    @property
    def outcome(self) -> Outcome:
        """What the caller is told."""
        if self.duplicate_of is not None:
            return Outcome.DUPLICATE
        if self.disputed:
            return Outcome.DISPUTED
        replaced = [
            each
            for each in self.conflicts
            if each.judgement.verdict == Verdict.SUPERSEDE and not each.new_is_older
        ]
        if any(each.strategy == Strategy.SAME_SUBJECT for each in replaced):
            return Outcome.VERSIONED
        return Outcome.SUPERSEDED_EXISTING if replaced else Outcome.CREATED


@dataclass(frozen=True, slots=True)
class Bar:
    """What it takes, without a common subject, that a memory changes another one.

    `relatedness` is how likely the two must be about one matter, `sureness` how confident the
    judge must be, both 0-1. benchmarks/relatedness.py shows what each costs. `change` is what the
    new memory may say in so many words instead of being that related.
    """

    relatedness: float
    sureness: float
    change: Change


# Somebody said it on purpose; and what was distilled from talk, where a neighbour is seldom about
# the same matter and a wrong verdict would retire what was right.
STATED = Bar(relatedness=0.4, sureness=0.0, change=Change.OF_ASPECT)
EXTRACTED = Bar(relatedness=0.9, sureness=0.7, change=Change.ENDED)


@dataclass(frozen=True, slots=True)
class Pair:
    """A draft and a memory it meets as a judge reads them: `existing` is the earlier of the two."""

    memory: Memory
    reach: Reach
    existing: Statement
    new: Statement
    same_subject: bool
    new_is_older: bool
    sureness_needed: float


def pairs_to_judge(
    *, draft: MemoryDraft, neighbours: Sequence[Neighbour], tools: Tools
) -> list[Pair]:
    """The neighbours that may speak of the same thing as the draft, without those it replaces."""
    arriving = Statement(draft.content, draft.created_at, draft.subject)
    pairs = []
    for neighbour in neighbours:
        memory = neighbour.memory
        if memory.pk in draft.replaces:
            continue
        same_subject = is_specific(draft.subject) and draft.subject == memory.subject
        standing = Statement(memory.content, memory.created_at, memory.subject)
        older = arriving.at < standing.at
        first, second = (arriving, standing) if older else (standing, arriving)
        bar = _bar(draft)
        if not same_subject and not _speak_of_one_matter(first, second, neighbour, bar, tools):
            continue
        sureness = 0.0 if same_subject else bar.sureness
        pairs.append(Pair(memory, neighbour.reach, first, second, same_subject, older, sureness))
    return pairs


def _bar(draft: MemoryDraft) -> Bar:
    return STATED if draft.extraction_pass is None else EXTRACTED


def _speak_of_one_matter(
    existing: Statement, new: Statement, neighbour: Neighbour, bar: Bar, tools: Tools
) -> bool:
    anchor = tools.embedder.opposition_similarity
    if neighbour.similarity >= anchor:
        related = relatedness(
            existing=existing, new=new, similarity=neighbour.similarity, anchor=anchor
        )
        if related >= bar.relatedness:
            return True
    return names_change(existing=existing, new=new) >= bar.change


def _replaced(draft: MemoryDraft) -> Iterable[Memory]:
    if not draft.replaces:
        return ()
    return Memory.objects.filter(team_id=draft.team_id, pk__in=draft.replaces)


def rule_on(*, draft: MemoryDraft, neighbours: Sequence[Neighbour], tools: Tools) -> Ruling:
    """Judge the draft against each neighbour that may speak of the same thing.

    Neighbours share the subject, or their words and vectors say that they are about one matter.
    An equal fact ends the search. The judge is asked in the order of time, whichever of the two
    arrived first.
    """
    conflicts = [
        Conflict(each, Strategy.SAME_SUBJECT, _STATED, is_stated=True) for each in _replaced(draft)
    ]
    for pair in pairs_to_judge(draft=draft, neighbours=neighbours, tools=tools):
        existing = pair.memory
        judgement = tools.judge.judge(existing=pair.existing, new=pair.new)
        if judgement.confidence < pair.sureness_needed:
            continue
        if judgement.verdict == Verdict.DUPLICATE:
            if pair.reach != Reach.SAME:
                continue  # other readers: each needs a memory of its own
            stated = tuple(each for each in conflicts if each.is_stated)
            return Ruling(conflicts=stated, duplicate_of=existing)
        if judgement.verdict == Verdict.COEXIST:
            continue
        strategy = _strategy(pair.same_subject, judgement)
        conflicts.append(
            Conflict(
                existing,
                strategy,
                _within_reach(judgement, pair),
                pair.new_is_older,
                reach=pair.reach,
            )
        )
    return Ruling(conflicts=tuple(conflicts))


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
    )


def retire_superseded(*, memory: Memory, ruling: Ruling, actor: str) -> None:
    """Turn what the new memory replaces cold, naming its successor, before that is inserted."""
    for old in ruling.superseded:
        release_disputes(memory=old, actor=actor, note="superseded by a newer memory")
        old.status = Status.SUPERSEDED.value
        old.tier = Tier.COLD.value
        old.is_pinned = False
        old.superseded_by = memory
        save_marks([old])


def record_conflicts(*, ruled: Sequence[tuple[Memory, Ruling]], judge: str) -> None:
    """Mark the disputes of stored new memories and keep their conflicts.

    Disputed memories and the new one name each other, but what fewer readers see is never named by
    what more of them see. Every conflict is kept as a contradiction: settled for a supersession,
    open for a dispute. No memory may be met by two of the rulings.
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
        _contradiction(memory, each, judge=judge, now=now)
        for memory, ruling in ruled
        for each in ruling.recorded
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
    if marks:
        memory.status = Status.DISPUTED.value
        memory.contradicts = marks
        yield memory


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
    """Make a memory active again unless it contradicts another or is said to be wrong; save it."""
    if memory.status == Status.DISPUTED and not memory.contradicts:
        said_wrong = Contradiction.objects.filter(
            team_id=memory.team_id, memory_a=memory, memory_b=None, resolved_at=None
        )
        if not said_wrong.exists():
            memory.status = Status.ACTIVE.value
    memory.save(update_fields=["status", "contradicts"])


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


def _strategy(same_subject: bool, judgement: Judgement) -> Strategy:
    if same_subject:
        return Strategy.SAME_SUBJECT
    if judgement.verdict == Verdict.SUPERSEDE:
        return Strategy.TEMPORAL_OVERRIDE
    return Strategy.SEMANTIC_OPPOSITION
