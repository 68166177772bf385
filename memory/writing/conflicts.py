"""Rulings on a new memory and its neighbours: repeat, supersede, dispute or coexist."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from uuid import UUID

from django.conf import settings

from memory.domain.audience import OPEN, Owner, Reach
from memory.domain.forms import never_contradict
from memory.domain.judgements import (
    A_WINS,
    B_WINS,
    BOTH_VALID,
    MERGED,
    SURE_OF_REPETITION,
    as_carried_out,
    as_compared,
    as_dispute,
    as_trusted,
    is_same_matter,
    is_sure_enough,
    judged_by_words,
    same_numbers,
    told_decision,
)
from memory.domain.talk import retells
from memory.domain.text.words import category_key, dedupe_key
from memory.domain.types import Judgement, Statement, Strategy, Verdict
from memory.models import Memory
from memory.models.memory import LIVE
from memory.selectors.neighbours import (
    Decision,
    Neighbour,
    decisions_on,
    locked_memories,
)
from memory.understanding.ports import Judge
from memory.writing.drafts import IMPORTED, STATED, MemoryDraft, Outcome
from memory.writing.neighbours import Readers
from teams.errors import ConflictError
from teams.tracing import step

# Why a dispute ended that nobody decided.
DELETED = "the other side was deleted"
ARCHIVED = "the other side was archived"
SUPERSEDED = "superseded by a newer memory"
LOST = "the other side of it lost"
UNDONE = "the merge that wrote one side was undone"
_UNDECIDED = (DELETED, ARCHIVED, SUPERSEDED, LOST, UNDONE)
_STATED = Judgement(Verdict.SUPERSEDE, "replaced on request")


# -- decisions of people ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Decided:
    """People's decisions on a draft's words.

    The live memories to which the words lost (SUPERSEDE: in just this pair; DISPUTE: to an earlier
    version), and those beside which they are valid; with an `objection` they are wrong in any case.
    """

    lost_to: Mapping[UUID, Judgement] = field(default_factory=lambda: MappingProxyType({}))
    valid_beside: frozenset[UUID] = frozenset()
    objection: Judgement | None = None

    @property
    def is_against(self) -> bool:
        return bool(self.lost_to) or self.objection is not None


NOTHING_DECIDED = Decided()


class PriorDecisions:
    """People's decisions on the words of one write's drafts; made in its transaction.

    `near` are the live memories that the drafts may be compared with. Decisions of `without`
    against a memory do not count, as who restores it undoes them.
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
            if each.note not in _UNDECIDED and (each.by != without or each.resolution == BOTH_VALID)
        ]

    def on(self, index: int) -> Decided:
        """Returns the decisions on that draft's words; of two the later one holds."""
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
        for each in self._found:
            if each.key not in self._keys[index] or not _holds(each):
                continue
            if self._readers.reach(each.said, self._drafts[index]) in (Reach.SAME, Reach.WIDER):
                yield each


def _holds(decision: Decision) -> bool:
    """Returns whether the decision says something of its words beside the near memory."""
    said = decision.said
    if decision.near is None:
        # A restored memory is no longer wrong.
        return said.status not in LIVE or decision.resolution != B_WINS
    if said.pk == decision.near:
        return False
    if decision.resolution == BOTH_VALID:
        return decision.is_of_two and decision.depth == 0
    lost = B_WINS if decision.is_first else A_WINS
    return said.status not in LIVE and decision.resolution in (MERGED, lost)


def _judgement(decision: Decision) -> Judgement:
    told = told_decision(
        resolution=decision.resolution,
        is_of_two=decision.is_of_two,
        by=decision.by,
        at=decision.at,
        note=decision.note,
        is_said_again=True,
    )
    # The near memory is a side of the contradiction itself, or was written by its merge.
    is_same_pair = decision.near is not None and (
        decision.depth == 0 or (decision.resolution == MERGED and decision.depth == 1)
    )
    verdict = Verdict.SUPERSEDE if is_same_pair else Verdict.DISPUTE
    return Judgement(verdict, f"the same words again, {told}", judge=decision.by)


def _keys(draft: MemoryDraft) -> Iterator[bytes]:
    """Yields the keys of the draft's words for its readers, and for more readers."""
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


# -- rulings ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Pair:
    """A draft and a neighbour as a judge reads them: `existing` is the earlier of the two."""

    neighbour: Neighbour
    existing: Statement
    new: Statement
    new_is_older: bool

    @property
    def is_one_matter(self) -> bool:
        return is_same_matter(self.existing.subject, self.new.subject)

    @property
    def later_reach(self) -> Reach:
        """Returns NARROWER where fewer readers see the later of the two than the earlier one."""
        wider_one = Reach.NARROWER if self.new_is_older else Reach.WIDER
        return Reach.NARROWER if self.neighbour.reach is wider_one else Reach.SAME


@dataclass(frozen=True, slots=True)
class Conflict:
    """A memory that the new one is in conflict with, and the judgement.

    `is_stated` marks one that the draft replaces on request, unjudged. `reach` compares the
    memory's readers with those of the new one.
    """

    memory: Memory
    strategy: Strategy
    judgement: Judgement
    new_is_older: bool = False
    is_stated: bool = False
    reach: Reach = Reach.SAME

    @property
    def changes_memory(self) -> bool:
        """Returns whether the new memory replaces this one, or marks it as disputed."""
        is_disputed = self.judgement.verdict is Verdict.DISPUTE and self.reach is not Reach.WIDER
        return self.is_replaced or is_disputed

    @property
    def is_replaced(self) -> bool:
        return self.judgement.verdict is Verdict.SUPERSEDE and not self.new_is_older


@dataclass(frozen=True, slots=True)
class Ruling:
    """The treatment of a draft; with an `objection` people said before that it is wrong.

    `alike` are neighbours that say nearly the same: it is linked to them. `untouched` are those
    that it contradicts and does not change, as only one side of the pair is confirmed.
    """

    conflicts: tuple[Conflict, ...] = ()
    duplicate_of: Memory | None = None
    objection: Judgement | None = None
    alike: tuple[Neighbour, ...] = ()
    untouched: tuple[Neighbour, ...] = ()

    @property
    def is_clear(self) -> bool:
        """Returns whether nothing opposes a new memory beside all others."""
        return not self.memories and self.objection is None

    def as_agreed(self) -> Ruling:
        """Returns the ruling on a draft with consent: only what it replaces gives way to it."""
        stated = tuple(each for each in self.conflicts if each.is_stated)
        return replace(self, conflicts=stated, objection=None)

    def as_repetition(self, memory: Memory) -> Ruling:
        """Returns the ruling by which that memory takes the place of what the draft replaces."""
        stated = tuple(each for each in self.conflicts if each.is_stated)
        return Ruling(stated, duplicate_of=memory)

    def sparing(self, ids: Collection[UUID]) -> Ruling:
        kept = tuple(each for each in self.conflicts if each.memory.pk not in ids)
        return replace(self, conflicts=kept)

    def replacing(self, memories: Sequence[Memory]) -> Ruling:
        """Returns the ruling by which the new memory also replaces these, unjudged."""
        others = self.sparing({each.pk for each in memories}).conflicts
        return replace(self, conflicts=(*_stated(memories), *others))

    @property
    def memories(self) -> list[Memory]:
        rows = [each.memory for each in self.conflicts]
        return rows if self.duplicate_of is None else [*rows, self.duplicate_of]

    @property
    def superseded(self) -> list[Memory]:
        """Returns the memories that the new one replaces, nearest first."""
        return [each.memory for each in self.conflicts if each.is_replaced]

    @property
    def continued(self) -> list[Memory]:
        """Returns those of them whose chain of versions the new one continues.

        A memory that only an agent sees is not named by one that all see.
        """
        return [
            each.memory
            for each in self.conflicts
            if each.is_replaced and each.reach is not Reach.NARROWER
        ]

    @property
    def superseded_by(self) -> Memory | None:
        """Returns the newer memory that already replaces the arriving older one."""
        for each in self.conflicts:
            if each.judgement.verdict is Verdict.SUPERSEDE and each.new_is_older:
                return each.memory
        return None

    @property
    def disputed(self) -> list[Conflict]:
        """Returns the conflicts that stay open."""
        if self.superseded_by is not None:
            return []
        return [each for each in self.conflicts if each.judgement.verdict is Verdict.DISPUTE]

    @property
    def is_objected(self) -> bool:
        """Returns whether the new memory is stored as one that is said to be wrong."""
        is_new = self.duplicate_of is None and self.superseded_by is None
        return is_new and self.objection is not None

    @property
    def recorded(self) -> list[Conflict]:
        """Returns the conflicts that are stored as contradictions."""
        settled = [each for each in self.conflicts if each.judgement.verdict is Verdict.SUPERSEDE]
        return [each for each in (*settled, *self.disputed) if not each.is_stated]

    @property
    def outcome(self) -> Outcome:
        if self.duplicate_of is not None:
            return Outcome.DUPLICATE
        if self.disputed or self.is_objected:
            return Outcome.DISPUTED
        replaced = [each for each in self.conflicts if each.is_replaced]
        if any(each.strategy is Strategy.SAME_SUBJECT for each in replaced):
            return Outcome.VERSIONED
        if self.superseded_by is not None:
            return Outcome.SUPERSEDED
        return Outcome.SUPERSEDED_EXISTING if replaced else Outcome.CREATED


def pairs_to_judge(
    *, draft: MemoryDraft, neighbours: Sequence[Neighbour], anchor: float
) -> list[Pair]:
    """Returns the neighbours that may be about the same matter as the draft, likeliest first.

    At most JUDGED_NEIGHBOURS, without those the draft replaces, those stated for another time and,
    beside an event, other events; `anchor` is the embedder's opposition similarity.
    """
    if not neighbours:
        return []
    said = Statement(draft.content, draft.created_at, draft.subject)
    pairs = []
    for neighbour in neighbours:
        memory = neighbour.memory
        # A summary of others is neither repeated nor replaced by a statement.
        is_retold = retells(tags=memory.tags, memory_type=memory.memory_type)
        if memory.pk in draft.replaces or is_retold or never_contradict(draft.form, memory.form):
            continue
        if _hold_in_turn(draft, memory):
            continue
        stored = Statement(memory.content, memory.created_at, memory.subject)
        is_older = draft.created_at < stored.at
        existing, new = (said, stored) if is_older else (stored, said)
        if is_same_matter(memory.subject, draft.subject) or neighbour.similarity >= anchor:
            pairs.append(Pair(neighbour, *as_compared(existing, new), is_older))
    pairs.sort(key=lambda pair: (not pair.is_one_matter, -pair.neighbour.similarity))
    return pairs[: settings.JUDGED_NEIGHBOURS]


def _hold_in_turn(draft: MemoryDraft, memory: Memory) -> bool:
    """Returns whether callers stated that one of the two ends before the other begins.

    Dates in talk prove nothing: "until March 1" and "from March 15 on" may be about one date.
    """
    if not {draft.extractor, memory.extractor} <= {STATED, IMPORTED}:
        return False
    times = (draft.valid_to, memory.valid_from), (memory.valid_to, draft.valid_from)
    return any(end and begin and end <= begin for end, begin in times)


@step("contradictions.rule")
def rule_on(
    *,
    draft: MemoryDraft,
    neighbours: Sequence[Neighbour],
    judge: Judge | None,
    anchor: float,
    decided: Decided = NOTHING_DECIDED,
) -> Ruling:
    """Judges the draft against each neighbour that may be about the same matter.

    A sure duplicate that adds no number or payload ends the search. The judge reads the two in the
    order of time, whichever arrived first, and is not asked about what people decided. Words that
    lost to a live memory are stored as superseded by it, so that nobody is asked about the pair
    again; words that lost to an earlier version of it are disputed. Either way they retire
    nothing. Without a judge only what the draft replaces on request is in conflict.
    """
    conflicts: list[Conflict] = []
    if draft.replaces:  # Building a query takes longer than the rest of an unchecked write.
        replaced = list(Memory.objects.filter(team_id=draft.team_id, pk__in=draft.replaces))
        if draft.source.is_unconfirmed and not all(each.is_unconfirmed for each in replaced):
            raise ConflictError(
                "What rests on a tool or a web page alone replaces no confirmed memory. State it as"
                " a memory of its own, which people can confirm.",
                field="source",
            )
        conflicts += _stated(replaced)
    if judge is None:
        return Ruling(tuple(conflicts))
    alike: list[Neighbour] = []
    untouched: list[Neighbour] = []
    for neighbour in neighbours:
        if neighbour.memory.pk in decided.lost_to:
            lost = _lost(draft, neighbour, decided.lost_to[neighbour.memory.pk])
            if _is_carried_out(draft, lost):
                conflicts.append(lost)
            else:
                untouched.append(neighbour)
    settled = {*decided.lost_to, *decided.valid_beside}
    undecided = [each for each in neighbours if each.memory.pk not in settled]
    pairs = pairs_to_judge(draft=draft, neighbours=undecided, anchor=anchor)
    for pair, judgement in zip(pairs, _judgements(pairs, judge), strict=True):
        if judgement.verdict is Verdict.COEXIST or not is_sure_enough(judgement):
            continue
        judgement = as_carried_out(judgement, later_reach=pair.later_reach)
        if judgement.verdict is Verdict.DUPLICATE:
            if pair.neighbour.reach is not Reach.SAME:
                continue  # other readers: each needs a memory of its own
            # A statement vouches for no word that only an unconfirmed memory says.
            adds_trust = pair.neighbour.memory.is_unconfirmed and not draft.source.is_unconfirmed
            if (
                (adds_trust and not _are_same_words(pair))
                or not _says_no_more(pair, judgement)
                or draft.adds_payload_to(pair.neighbour.memory)
            ):
                alike.append(pair.neighbour)
                continue
            return Ruling(tuple(conflicts)).as_repetition(pair.neighbour.memory)
        if judgement.verdict is Verdict.SUPERSEDE and decided.is_against and not pair.new_is_older:
            judgement = as_dispute(judgement, because="but people decided against the later one")
        conflict = _conflict(draft, pair.neighbour, judgement, new_is_older=pair.new_is_older)
        if _is_carried_out(draft, conflict):
            conflicts.append(conflict)
        else:
            untouched.append(pair.neighbour)
    return Ruling(
        tuple(conflicts),
        objection=decided.objection,
        alike=tuple(alike),
        untouched=tuple(untouched),
    )


def _is_carried_out(draft: MemoryDraft, conflict: Conflict) -> bool:
    """Returns whether the sources of draft and memory allow the conflict to change either."""
    is_confirmed = not draft.source.is_unconfirmed, not conflict.memory.is_unconfirmed
    earlier, later = is_confirmed if conflict.new_is_older else reversed(is_confirmed)
    judgement = as_trusted(
        conflict.judgement, is_earlier_confirmed=earlier, is_later_confirmed=later
    )
    return judgement.verdict is not Verdict.COEXIST


def _are_same_words(pair: Pair) -> bool:
    return judged_by_words(pair.existing.content, pair.new.content) is not None


def _judgements(pairs: Sequence[Pair], judge: Judge) -> list[Judgement]:
    """Returns the verdicts: by the words where these are the same, else the judge's."""
    by_words = [judged_by_words(each.existing.content, each.new.content) for each in pairs]
    asked = [
        (each.existing, each.new)
        for each, known in zip(pairs, by_words, strict=True)
        if known is None
    ]
    judged = iter(judge.judge_all(asked))
    return [known or next(judged) for known in by_words]


def _says_no_more(pair: Pair, judgement: Judgement) -> bool:
    is_sure = judgement.confidence >= SURE_OF_REPETITION
    return is_sure and same_numbers(pair.existing.content, pair.new.content)


def _stated(memories: Iterable[Memory]) -> list[Conflict]:
    return [Conflict(each, Strategy.SAME_SUBJECT, _STATED, is_stated=True) for each in memories]


def _lost(draft: MemoryDraft, neighbour: Neighbour, judgement: Judgement) -> Conflict:
    """Returns the conflict of words that lost before with a live memory.

    A memory of fewer readers replaces nothing for others: there the words are disputed.
    """
    if judgement.verdict is Verdict.SUPERSEDE and neighbour.reach is not Reach.NARROWER:
        return _conflict(draft, neighbour, judgement, new_is_older=True)
    judgement = replace(judgement, verdict=Verdict.DISPUTE)
    is_older = draft.created_at < neighbour.memory.created_at
    return _conflict(draft, neighbour, judgement, new_is_older=is_older)


def _conflict(
    draft: MemoryDraft, neighbour: Neighbour, judgement: Judgement, *, new_is_older: bool
) -> Conflict:
    memory = neighbour.memory
    strategy = strategy_of(one=draft.subject, other=memory.subject, verdict=judgement.verdict)
    return Conflict(memory, strategy, judgement, new_is_older, reach=neighbour.reach)


def strategy_of(*, one: str, other: str, verdict: Verdict) -> Strategy:
    """Returns the strategy of seed 000 by which a conflict between two subjects was found."""
    if is_same_matter(one, other):
        return Strategy.SAME_SUBJECT
    if verdict is Verdict.SUPERSEDE:
        return Strategy.TEMPORAL_OVERRIDE
    return Strategy.SEMANTIC_OPPOSITION


def locked_ruling(ruling: Ruling) -> Ruling | None:
    """Returns the ruling over its memories read anew and locked.

    None if one is no longer live, or was confirmed since.
    """
    ids = {memory.pk for memory in ruling.memories}
    if not ids:
        return ruling
    fresh = locked_memories(team_id=ruling.memories[0].team_id, ids=ids)
    if len(fresh) < len(ids) or any(
        each.is_unconfirmed != fresh[each.pk].is_unconfirmed for each in ruling.memories
    ):
        return None
    return replace(
        ruling,
        conflicts=tuple(replace(each, memory=fresh[each.memory.pk]) for each in ruling.conflicts),
        duplicate_of=fresh[ruling.duplicate_of.pk] if ruling.duplicate_of else None,
    )
