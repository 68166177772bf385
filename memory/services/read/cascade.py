"""How deep a read looks: at what is hot and warm, then at cold memories, then at messages.

A deeper level is reached when the caller asks for it, or when nobody said and the levels above
found nothing that says much about the question. A question for what was before asks for what is
cold, and past; what superseded it ranks before it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from django.conf import settings

from memory.clients.tools import Tools
from memory.domain.summarising import retells
from memory.domain.types import Tier
from memory.domain.viewer import Viewer
from memory.models import Memory
from memory.models.memory import LIVE
from memory.models.querysets import MemoryQuerySet
from memory.selectors.memories import outdated_summaries
from memory.selectors.revisions import Revision
from memory.selectors.search.signal_rows import Found
from memory.selectors.search.signals import find_candidates, has_cold, narrowed
from memory.services.read.about_whom import is_untold_profile
from memory.services.read.messages import (
    RankedMessage,
    messages_for,
    out_of_view,
    rank_together,
)
from memory.services.read.ranking import Ranked, ReadQuestion, Score, ordered, score_pool
from memory.services.read.updates_first import updates_first
from teams.tracing import step

# Of the score of what took its place, a past memory has at most this share.
BEHIND = 0.99
_LONGEST_CHAIN = 100


class Level(StrEnum):
    """Where a result comes from."""

    HOT = "hot"
    WARM = "warm"
    COLD = "cold"
    RAW = "raw"


@dataclass(frozen=True, slots=True)
class Depth:
    """Which deeper levels a read looks at: always, never, or (None) when those above are weak.

    With None what is cold, and past, is always looked at for a question that asks for what was.
    """

    include_cold: bool | None = None
    include_raw: bool | None = None


@dataclass(frozen=True, slots=True)
class Candidates:
    """What was found on the way down, each kind best first, and the levels that were searched.

    Messages of which a memory ranks higher are left out. `ends` are those of `behind_successors`,
    and `untold` is how many profile memories were left out because no user is named.
    """

    memories: list[Ranked]
    messages: list[RankedMessage]
    searched: tuple[Level, ...]
    ends: Mapping[UUID, UUID]
    untold: int = 0


@dataclass(frozen=True, slots=True)
class Search:
    """One search through the levels; run it in the team's scope.

    `rows` narrows the memories, of which at least `least` are ranked, however little they say;
    messages fit no such filter, so that they are reached only when they are asked for. Of the
    types in `set_aside` only pinned memories are ranked, and profiles only where the viewer or, by
    `names_user`, a filter says whose; `with_project` proposes the most important memories of the
    viewer's project too. `revision` is the team's in this transaction. What is in `also` is ranked
    as well.
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
    names_user: bool = False
    with_project: bool = False
    revision: Revision | None = None
    also: tuple[UUID, ...] = ()

    @step("retrieve.search")
    def run(self) -> Candidates:
        """The candidates of the levels that the depth asks for."""
        depth = self.depth
        asked = self.question.asked
        if depth.include_cold is None and asked.of_past:
            depth = replace(depth, include_cold=True)
        searched = [Level.HOT, Level.WARM]
        found, ranked, untold = self._memories(with_cold=bool(depth.include_cold))
        if depth.include_cold:
            searched.append(Level.COLD)
        elif depth.include_cold is None and _strength(ranked) < settings.CASCADE_COLD_BELOW:
            if has_cold(viewer=self.viewer, revision=self.revision):
                found, ranked, untold = self._memories(with_cold=True, is_asked=False)
            searched.append(Level.COLD)
        said: list[RankedMessage] = []
        wants_raw = depth.include_raw
        if wants_raw is None:
            wants_raw = self.rows is None and _strength(ranked) < settings.CASCADE_RAW_BELOW
        if wants_raw:
            searched.append(Level.RAW)
            ranked, said = self._with_messages(found, ranked)
        if not (asked.of_past or asked.periods):
            ranked = updates_first(ranked)
        ends: Mapping[UUID, UUID] = {}
        if depth.include_cold:
            ranked, ends = behind_successors(team_id=self.viewer.team_id, ranked=ranked)
        return Candidates(ranked, said, tuple(searched), ends, untold)

    def _memories(
        self, *, with_cold: bool, is_asked: bool = True
    ) -> tuple[Found, list[Ranked], int]:
        """The memories of one depth, without summaries that tell what holds no longer.

        And how many profile memories are left out because nobody says of whom one is asked for.

        Unasked, what is past stays away: it is not true any more.
        """
        only = kept = None
        rows = self.rows
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
        names_user = self.names_user or self.viewer.end_user_id is not None
        wanted = [
            row
            for row in found.rows
            if (kept is None or row.memory_id in kept)
            and row.memory_id not in outdated
            and (is_asked or row.is_live)
            and (row.is_pinned or row.memory_type not in self.set_aside)
        ]
        left = [
            row
            for row in wanted
            if not is_untold_profile(memory_type=row.memory_type, names_user=names_user)
        ]
        untold = len(wanted) - len(left)
        found = replace(found, rows=left)
        if not left:
            return found, [], untold
        table, scores = score_pool(
            question=self.question, pool=found, score=self.score, now=self.now
        )
        return found, ordered(found.rows, table, scores), untold

    def _with_messages(
        self, found: Found, ranked: list[Ranked]
    ) -> tuple[list[Ranked], list[RankedMessage]]:
        """The memories, ranked anew beside the messages, and those messages."""
        messages = messages_for(
            viewer=self.viewer,
            question=self.question,
            tools=self.tools,
            revision=self.revision,
        )
        if not messages.rows:
            return ranked, []
        ranked, said = rank_together(
            team_id=self.viewer.team_id,
            question=self.question,
            found=found,
            messages=messages,
            score=self.score,
            now=self.now,
        )
        if self.depth.include_raw is None:
            said = out_of_view(team_id=self.viewer.team_id, question=self.question, said=said)
        return ranked, said


def level_of(memory: Memory) -> Level:
    """Where a memory comes from; what is past lies with the cold ones."""
    if memory.status not in LIVE or memory.tier == Tier.COLD:
        return Level.COLD
    return Level.HOT if memory.tier == Tier.HOT else Level.WARM


def _strength(ranked: Sequence[Ranked]) -> float:
    """How much the best candidate says about the question: its relevance 0-1, whatever its rank.

    What only retells others makes no deeper look needless: they say more.
    """
    return max(
        (
            float(each.table.semantic[each.place])
            for each in ranked
            if not retells(tags=each.row.tags, memory_type=each.row.memory_type)
        ),
        default=0.0,
    )


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
