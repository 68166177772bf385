"""What people decided outranks a repetition: nobody is asked about the same pair again."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from uuid import UUID

from memory.domain.audience import OPEN, Owner, Reach
from memory.domain.judgements import A_WINS, B_WINS, BOTH_VALID, MERGED, told_decision
from memory.domain.text.words import category_key, dedupe_key
from memory.domain.types import Judgement, Verdict
from memory.models.memory import LIVE
from memory.selectors.neighbours.neighbours import Decision, decisions_on
from memory.writing.write.audiences import Readers
from memory.writing.write.drafts import MemoryDraft

# Why a dispute ended that nobody decided.
DELETED = "the other side was deleted"
ARCHIVED = "the other side was archived"
SUPERSEDED = "superseded by a newer memory"
LOST = "the other side of it lost"
UNDONE = "the merge that wrote one side was taken back"


@dataclass(frozen=True, slots=True)
class Decided:
    """What people decided of a draft's words.

    Against which live memories they lost (SUPERSEDE: in just this pair; DISPUTE: to an earlier
    version), and beside which they are valid; with an `objection` they are wrong whatever else
    stands.
    """

    lost_to: Mapping[UUID, Judgement] = field(default_factory=lambda: MappingProxyType({}))
    valid_beside: frozenset[UUID] = frozenset()
    objection: Judgement | None = None

    @property
    def is_against(self) -> bool:
        """Whether the words are not to stand as if nobody had decided."""
        return bool(self.lost_to) or self.objection is not None


NOTHING_DECIDED = Decided()


class PriorDecisions:
    """What people decided about what the drafts of one write say; made in its transaction.

    `near` are the live memories that the drafts may be compared with. What `without` decided
    against a memory does not count: who brings it back takes that back.
    """

    def __init__(
        self,
        *,
        drafts: Sequence[MemoryDraft],
        near: Collection[UUID],
        readers: Readers,
        without: str = "",
    ) -> None:
        self._drafts = drafts
        self._readers = readers
        self._keys = {
            index: frozenset(_keys(draft))
            for index, draft in enumerate(drafts)
            if draft.check and not draft.replaces
        }
        keys = frozenset().union(*self._keys.values())
        found = decisions_on(team_id=drafts[0].team_id, keys=keys, near=list(near)) if keys else []
        self._found = [
            each
            for each in found
            if each.note not in (DELETED, ARCHIVED, SUPERSEDED, LOST, UNDONE)
            and (each.by != without or each.resolution == BOTH_VALID)
        ]

    def on(self, index: int) -> Decided:
        """What was decided of that draft's words; of two decisions the later one holds."""
        if not self._found or index not in self._keys:
            return NOTHING_DECIDED
        lost_to: dict[UUID, Judgement] = {}
        beside: set[UUID] = set()
        objection: Judgement | None = None
        for each in self._about(index):
            if each.near is None:
                objection = _judgement(each) if each.resolution == B_WINS else None
            elif each.resolution == BOTH_VALID:
                lost_to.pop(each.near, None)
                beside.add(each.near)
            else:
                beside.discard(each.near)
                lost_to[each.near] = _judgement(each)
        return Decided(lost_to, frozenset(beside), objection)

    def _about(self, index: int) -> Iterator[Decision]:
        """The decisions that hold for the draft, the oldest first."""
        for each in self._found:
            if each.key not in self._keys[index] or not _holds(each):
                continue
            if self._readers.reach(each.said, self._drafts[index]) in (Reach.SAME, Reach.WIDER):
                yield each


def _holds(decision: Decision) -> bool:
    """Whether it says something of its words beside what is near."""
    said = decision.said
    if decision.near is None:
        # One that was brought back is wrong no more.
        return said.status not in LIVE or decision.resolution != B_WINS
    if said.pk == decision.near:
        return False
    if decision.resolution == BOTH_VALID:
        return decision.is_of_two and decision.depth == 0
    lost = B_WINS if decision.is_first else A_WINS
    return said.status not in LIVE and decision.resolution in (MERGED, lost)


def _is_same_pair(decision: Decision) -> bool:
    """Whether it was decided about what is near itself, or near was written by the decision."""
    if decision.near is None:
        return False
    return decision.depth == 0 or (decision.resolution == MERGED and decision.depth == 1)


def _judgement(decision: Decision) -> Judgement:
    told = told_decision(
        resolution=decision.resolution,
        is_of_two=decision.is_of_two,
        by=decision.by,
        at=decision.at,
        note=decision.note,
        is_said_again=True,
    )
    verdict = Verdict.SUPERSEDE if _is_same_pair(decision) else Verdict.DISPUTE
    return Judgement(verdict, f"the same words again, {told}", judge=decision.by)


def _keys(draft: MemoryDraft) -> Iterator[bytes]:
    """The keys of the draft's words: for its readers, and for more of them."""
    for owner in _owners(draft.owner):
        key = dedupe_key(draft.content, owner)
        yield key
        yield category_key(key, draft.category)


def _owners(owner: Owner) -> set[Owner]:
    if owner.kind != OPEN:
        return {owner}
    return {
        replace(owner, agent_id=agent_id, project_id=project_id)
        for agent_id in (owner.agent_id, None)
        for project_id in (owner.project_id, None)
    }
