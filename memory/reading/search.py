"""One search: memories and verbatim messages are ranked together."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from enum import StrEnum
from typing import TypeVar
from uuid import UUID

from memory.domain.audience import Viewer
from memory.domain.scoring import Parts
from memory.domain.talk import retells
from memory.domain.types import Tier
from memory.models import Memory
from memory.models.memory import LIVE
from memory.models.querysets import MemoryQuerySet
from memory.reading.messages import RankedMessage, messages_for, out_of_view, rank_together
from memory.reading.ranking import Ranked, ReadQuestion, Score
from memory.reading.updates_first import BEHIND, updates_first
from memory.selectors.memories import outdated_summaries
from memory.selectors.revisions import Revision
from memory.selectors.search.signal_rows import (
    NO_MESSAGES,
    Found,
    FoundMessages,
    MessageRow,
    SignalRow,
)
from memory.selectors.search.signals import find_candidates, narrowed
from memory.understanding.tools import Tools
from teams.tracing import step

_LONGEST_CHAIN = 100


class Level(StrEnum):
    """Where a result comes from."""

    HOT = "hot"
    WARM = "warm"
    COLD = "cold"
    RAW = "raw"


@dataclass(frozen=True, slots=True)
class Depth:
    """How far a read looks beside live memories: at cold and past ones, and at messages.

    None for `include_raw` looks at messages unless `rows` narrow the memories, as messages fit no
    such filter, and leaves out those that whoever asks has in view anyhow. With `include_private`
    confidences come that the question is not about, too.
    """

    include_cold: bool = False
    include_raw: bool | None = None
    include_private: bool = False


_Row = TypeVar("_Row", SignalRow, MessageRow)
# Of labelled confidences 8 % are this near to a question about something else, and of answers 68 %
# to the question that asks for them; or so many of a question's words are in them.
_ASKED_FROM = 0.2
_ASKED_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class Candidates:
    """What a search found, each kind best first, and the levels that were searched.

    Messages that a memory of at least their rank quotes are left out. `ends` are those of
    `behind_successors`.
    """

    memories: list[Ranked]
    messages: list[RankedMessage]
    searched: tuple[Level, ...]
    ends: Mapping[UUID, UUID]


@dataclass(frozen=True, slots=True)
class Pooled:
    """The rows of a search before they are ranked, and the levels that were searched."""

    memories: Found
    messages: FoundMessages
    searched: tuple[Level, ...]


@dataclass(frozen=True, slots=True)
class Search:
    """One search over memories and messages; run it in the team's scope.

    `rows` narrows the memories, of which at least `least` are ranked, however little they say. Of
    the types in `set_aside` only pinned memories are ranked; `with_project` proposes the most
    important memories of the viewer's project too. The memories in `also` are ranked as well.
    """

    viewer: Viewer
    question: ReadQuestion
    score: Score
    depth: Depth
    tools: Tools
    now: datetime
    rows: MemoryQuerySet | None = None
    least: int = 0
    set_aside: Collection[str] = ()
    with_project: bool = False
    also: tuple[UUID, ...] = ()

    def run(self, *, revision: Revision | None = None) -> Candidates:
        """Returns the ranked candidates; `revision` is the team's in this transaction."""
        return self.rank(self.find(revision=revision))

    @step("retrieve.search")
    def find(self, *, revision: Revision | None) -> Pooled:
        """Returns the rows that the depth asks for; `revision` is the team's in the transaction."""
        searched = [Level.HOT, Level.WARM]
        if self.depth.include_cold:
            searched.append(Level.COLD)
        found = self._memories()
        messages = NO_MESSAGES
        if self.rows is None if self.depth.include_raw is None else self.depth.include_raw:
            searched.append(Level.RAW)
            messages = messages_for(
                viewer=self.viewer,
                question=self.question,
                tools=self.tools,
                revision=revision,
            )
        return Pooled(
            replace(found, rows=self._asked_about(found.rows)),
            replace(messages, rows=self._asked_about(messages.rows)),
            tuple(searched),
        )

    def rank(self, pooled: Pooled) -> Candidates:
        """Returns the rows ranked together."""
        ranked, said = rank_together(
            team_id=self.viewer.team_id,
            question=self.question,
            found=pooled.memories,
            messages=pooled.messages,
            score=self.score,
            now=self.now,
        )
        if self.depth.include_raw is None:
            said = out_of_view(team_id=self.viewer.team_id, question=self.question, said=said)
        if not self.question.asked.periods:
            ranked = updates_first(ranked)
        ends: Mapping[UUID, UUID] = {}
        if self.depth.include_cold:
            ranked, ends = behind_successors(team_id=self.viewer.team_id, ranked=ranked)
        return Candidates(ranked, said, pooled.searched, ends)

    def _asked_about(self, rows: Sequence[_Row]) -> list[_Row]:
        """The rows without what was told in confidence and is not asked about."""
        if self.depth.include_private:
            return list(rows)
        most = max(1, len(self.question.words))
        return [
            row
            for row in rows
            if not row.is_private
            or (row.cosine or 0.0) >= _ASKED_FROM
            or row.terms.bit_count() >= _ASKED_SHARE * most
        ]

    def _memories(self) -> Found:
        """The memories, without summaries that tell what holds no longer."""
        only = kept = None
        rows, with_cold = self.rows, self.depth.include_cold
        if rows is not None:
            rows = rows.searchable(include_cold=with_cold)
            only = narrowed(viewer=self.viewer, rows=rows)
        found = find_candidates(
            viewer=self.viewer,
            sought=self.question.sought(
                only=only,
                with_cold=with_cold or only is not None,
                least=self.least,
                with_project=self.with_project,
                also=self.also,
            ),
        )
        if rows is not None and only is None:
            ids = [row.memory_id for row in found.rows]
            kept = set(rows.filter(id__in=ids).values_list("id", flat=True))
        summaries = [
            row.memory_id
            for row in found.rows
            if retells(tags=row.tags, memory_type=row.memory_type)
        ]
        outdated = outdated_summaries(team_id=self.viewer.team_id, ids=summaries)
        wanted = [
            row
            for row in found.rows
            if (kept is None or row.memory_id in kept)
            and row.memory_id not in outdated
            and (row.is_pinned or row.memory_type not in self.set_aside)
        ]
        return replace(found, rows=wanted)


def level_of(memory: Memory) -> Level:
    """Where a memory comes from; what is past lies with the cold ones."""
    if memory.status not in LIVE or memory.tier == Tier.COLD:
        return Level.COLD
    return Level.HOT if memory.tier == Tier.HOT else Level.WARM


def behind_successors(
    *, team_id: UUID, ranked: Sequence[Ranked]
) -> tuple[list[Ranked], dict[UUID, UUID]]:
    """The memories, best first, none that is past before what superseded it.

    And of each past one the last that took its place, where that was found as well. Call it in
    the team's scope.
    """
    past = {each.row.memory_id for each in ranked if not each.row.is_live}
    if not past:
        return list(ranked), {}
    standing = {each.row.memory_id for each in ranked if each.row.is_live}
    after = _successors(team_id, past, standing)
    scores = {each.row.memory_id: each.score for each in ranked}
    kept = [
        each if each.row.is_live else each._replace(score=held, rank=held)
        for each in ranked
        for held in [_held(each, after, scores)]
    ]
    ends = {key: end for key in past if (end := _end(key, after)) in standing}
    return sorted(kept, key=lambda each: (-each.score, each.row.memory_id)), ends


def told_alone(ends: Mapping[UUID, UUID], told: Collection[UUID]) -> set[UUID]:
    """What of the past would be told without that which took its place."""
    return {past for past, end in ends.items() if past in told and end not in told}


def _end(key: UUID, after: Mapping[UUID, UUID]) -> UUID:
    for _ in range(_LONGEST_CHAIN):
        if key not in after:
            break
        key = after[key]
    return key


def _held(each: Ranked, after: dict[UUID, UUID], scores: dict[UUID, float]) -> float:
    """The score of a memory, held below those of all that came after it and were found."""
    score, key, share = each.score, each.row.memory_id, 1.0
    for _ in range(_LONGEST_CHAIN):
        if key not in after:
            break
        key, share = after[key], share * BEHIND
        score = min(score, share * scores.get(key, 1.0))
    return score


def _successors(
    team_id: UUID, ids: Collection[UUID], standing: Collection[UUID]
) -> dict[UUID, UUID]:
    """By what each was superseded, and by what that was, to the end of the chains.

    Nothing took the place of what is `standing`, so that is not asked for.
    """
    after: dict[UUID, UUID] = {}
    wanted = set(ids)
    for _ in range(_LONGEST_CHAIN):
        rows = Memory.objects.filter(
            team_id=team_id, pk__in=wanted, superseded_by__isnull=False
        ).values_list("id", "superseded_by_id")
        found = {pk: later for pk, later in rows if later is not None}
        after |= found
        wanted = set(found.values()) - after.keys() - set(standing)
        if not wanted:
            break
    return after


_TIME = [each.name for each in fields(Parts)].index("time")
# Of the 0.15 to 0.2 that fitting the time asked for adds to relevance.
_OF_THE_TIME = 0.1


def relevant(
    found: Candidates, *, min_score: float | None, always: Callable[[Ranked], bool]
) -> tuple[Candidates, int]:
    """The candidates of at least that relevance (0-1), and how many others there were.

    Without a `min_score` nothing is left out. What is of the time that is asked for is kept as
    well, and memories that are `always` told, and those that a kept one contradicts or was
    superseded by: nothing disputed is told without its other side, nothing past without what took
    its place.
    """
    if min_score is None:
        return found, 0
    enough = _says_enough(found.memories, min_score)
    memories = [each for each in found.memories if enough[each.place] or always(each)]
    beside = {other for each in memories for other in each.row.contradicts or ()}
    if found.ends:
        beside |= {
            found.ends[key] for each in memories if (key := each.row.memory_id) in found.ends
        }
    if beside:
        beside |= {each.row.memory_id for each in memories}
        memories = [each for each in found.memories if each.row.memory_id in beside]
    enough = _says_enough(found.messages, min_score)
    messages = [each for each in found.messages if enough[each.place]]
    left_out = len(found.memories) - len(memories) + len(found.messages) - len(messages)
    return replace(found, memories=memories, messages=messages), left_out


def _says_enough(
    candidates: Sequence[Ranked] | Sequence[RankedMessage], min_score: float
) -> list[bool]:
    """By place in the table that they share: whether it is relevant or of the time asked for."""
    if not candidates:
        return []
    table = candidates[0].table
    enough = table.semantic >= min_score
    if table.parts is not None:
        enough = enough | (table.parts[_TIME] >= _OF_THE_TIME)
    found: list[bool] = enough.tolist()
    return found
