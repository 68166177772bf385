"""What people decided outranks a repetition: the same words said again do not stand unmarked."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from uuid import UUID

from memory.domain.audience import OPEN, Audience, Reach
from memory.domain.decided import A_WINS, B_WINS, BOTH_VALID, MERGED, told_decision
from memory.domain.text import category_key, dedupe_key
from memory.domain.types import Judgement, Verdict
from memory.models.memory import LIVE
from memory.selectors.meeting.decisions import Decision, decisions_on
from memory.services.writing.drafts import MemoryDraft
from memory.services.writing.ended_disputes import DELETED, LOST, SUPERSEDED
from memory.services.writing.inserting import PreparedDraft
from memory.services.writing.readers import Readers

_OF_NOBODY = frozenset({DELETED, SUPERSEDED, LOST})


@dataclass(frozen=True, slots=True)
class Decided:
    """What was decided of a draft's words.

    Against which live memories they lost, and beside which they are valid; with an `objection`
    they are wrong whatever else stands.
    """

    lost_to: Mapping[UUID, Judgement] = field(default_factory=lambda: MappingProxyType({}))
    valid_beside: frozenset[UUID] = frozenset()
    objection: Judgement | None = None

    @property
    def is_against(self) -> bool:
        """Whether the words are not to stand as if nobody had decided."""
        return bool(self.lost_to) or self.objection is not None


NOTHING_DECIDED = Decided()


class Decisions:
    """What people decided about what the drafts of one write say; made in its transaction.

    `near` are the live memories that the drafts may meet. Not counted is what `without` decided
    against a memory: who brings it back takes that back.
    """

    def __init__(
        self,
        *,
        prepared: Sequence[PreparedDraft],
        near: Collection[UUID],
        readers: Readers,
        without: str = "",
    ) -> None:
        self._readers = readers
        self._keys = {
            index: frozenset(_keys(item.draft))
            for index, item in enumerate(prepared)
            if item.draft.check and not item.draft.replaces
        }
        keys = frozenset().union(*self._keys.values())
        found = (
            decisions_on(team_id=prepared[0].draft.team_id, keys=keys, near=list(near))
            if keys
            else []
        )
        self._found = [
            each
            for each in found
            if each.note not in _OF_NOBODY and (each.by != without or each.resolution == BOTH_VALID)
        ]
        self._drafts = [item.draft for item in prepared]

    def on(self, index: int) -> Decided:
        """What was decided of that draft's words; of two decisions the later one holds."""
        if not self._found or index not in self._keys:
            return NOTHING_DECIDED
        lost_to: dict[UUID, Judgement] = {}
        beside: set[UUID] = set()
        objection: Judgement | None = None
        for each in self._about(index):
            if each.near is None:
                is_wrong = each.resolution == B_WINS
                objection = _judgement(each) if is_wrong else None
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
    if decision.near is None:
        # One that was brought back is wrong no more.
        return decision.said.status not in LIVE or decision.resolution != B_WINS
    if decision.said.pk == decision.near:
        return False
    if decision.resolution == BOTH_VALID:
        return decision.is_of_two and decision.depth == 0
    if decision.said.status in LIVE:
        return False
    return decision.resolution == MERGED or decision.resolution == (
        B_WINS if decision.is_first else A_WINS
    )


def _judgement(decision: Decision) -> Judgement:
    told = told_decision(
        resolution=decision.resolution,
        is_of_two=decision.is_of_two,
        by=decision.by,
        at=decision.at,
        note=decision.note,
        is_said_again=True,
    )
    return Judgement(Verdict.DISPUTE, f"the same words again, {told}", judge=decision.by)


def _keys(draft: MemoryDraft) -> Iterator[bytes]:
    """Where the words stood that the draft repeats: for its readers, or for more."""
    for audience in _audiences(draft.audience):
        key = dedupe_key(draft.content, audience)
        yield key
        yield category_key(key, draft.category)


def _audiences(audience: Audience) -> Iterator[Audience]:
    yield audience
    if audience.kind != OPEN:
        return
    agents = {audience.agent_id, None}
    projects = {audience.project_id, None}
    for agent_id in agents:
        for project_id in projects:
            wider = replace(audience, agent_id=agent_id, project_id=project_id)
            if wider != audience:
                yield wider
