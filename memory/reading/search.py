"""One search: memories and verbatim messages are ranked together."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TypeVar
from uuid import UUID

import numpy as np

from memory.domain.plans.plan import Plan
from memory.domain.scoring import LEAST_BEST, Parts
from memory.domain.talk import retells
from memory.domain.types import Tier
from memory.models import Memory
from memory.models.memory import LIVE
from memory.reading.messages import RankedMessage, messages_for, out_of_view, rank_together
from memory.reading.questions import Level, Read, ReadQuestion
from memory.reading.ranking import BEHIND, Ranked, Score, updates_first
from memory.selectors.memories import outdated_summaries
from memory.selectors.revisions import Revision
from memory.selectors.search.signal_rows import NO_MESSAGES, Found, MessageRow, SignalRow
from memory.selectors.search.signals import find_candidates, narrowed
from teams.tracing import step

_LONGEST_CHAIN = 100
# So many are among what the signals propose anyhow.
_USUAL_LIMIT = 50
# Of labelled confidences 8 % are this near to a question about something else, and of answers 68 %
# to the question that asks for them; or so many of a question's words are in them.
_ASKED_FROM = 0.2
_ASKED_SHARE = 0.5
_Row = TypeVar("_Row", SignalRow, MessageRow)


# Sources of candidates besides the search, to which satellites add theirs: each proposes memories
# that the `viewer` may see for what is `asked`, in the team's scope.
SOURCES: list[Callable[..., Iterable[UUID]]] = []


@dataclass(frozen=True, slots=True)
class Candidates:
    """Candidates of a search, each kind best first, and the levels that were searched.

    Messages that a memory of at least their rank quotes are left out. `ends` name the last
    successor of each past memory, if it was found.
    """

    memories: list[Ranked]
    messages: list[RankedMessage]
    searched: tuple[Level, ...]
    ends: Mapping[UUID, UUID]


NO_CANDIDATES = Candidates([], [], (), {})


@step("retrieve.search")
def ranked_candidates(
    read: Read,
    question: ReadQuestion,
    *,
    score: Score,
    plan: Plan | None = None,
    revision: Revision | None = None,
) -> Candidates:
    """Returns memories and messages for a question, ranked together; call it in the team's scope.

    For a `plan` the types that it tells on request alone are left out, and a plan with tiers gets
    the most important memories of the viewer's project. `revision` is the team's in this
    transaction.
    """
    depth, team_id = read.depth, read.viewer.team_id
    searched = [Level.HOT, Level.WARM]
    if depth.include_cold:
        searched.append(Level.COLD)
    found, messages = _memories(read, question, plan), NO_MESSAGES
    if read.rows is None if depth.include_raw is None else depth.include_raw:
        searched.append(Level.RAW)
        messages = messages_for(read, question, revision=revision)
    ranked, said = rank_together(
        read,
        question,
        found=replace(found, rows=_asked_about(read, question, found.rows)),
        messages=replace(messages, rows=_asked_about(read, question, messages.rows)),
        score=score,
    )
    if depth.include_raw is None:
        said = out_of_view(team_id=team_id, question=read.question, said=said)
    if not question.asked.periods:
        ranked = updates_first(ranked)
    ends: Mapping[UUID, UUID] = {}
    if depth.include_cold:
        ranked, ends = _behind_successors(team_id=team_id, ranked=ranked)
    return Candidates(ranked, said, tuple(searched), ends)


def _asked_about(read: Read, question: ReadQuestion, rows: Sequence[_Row]) -> list[_Row]:
    """The rows without confidences that are not asked about."""
    if read.depth.include_private:
        return list(rows)
    fewest = _ASKED_SHARE * max(1, len(question.sought.terms))
    return [
        row
        for row in rows
        if not row.is_private
        or (row.cosine or 0.0) >= _ASKED_FROM
        or row.terms.bit_count() >= fewest
    ]


def _memories(read: Read, question: ReadQuestion, plan: Plan | None) -> Found:
    """The memories, without outdated summaries."""
    viewer, rows, limit = read.viewer, read.rows, read.limit or 0
    with_cold = read.depth.include_cold
    only = None
    if rows is not None:
        rows = rows.searchable(include_cold=with_cold)
        only = narrowed(viewer=viewer, rows=rows)
    is_wide = plan is None and (rows is not None or limit > _USUAL_LIMIT)
    further = (each for source in SOURCES for each in source(viewer=viewer, asked=question.asked))
    found = find_candidates(
        viewer=viewer,
        sought=replace(
            question.sought,
            only=only,
            with_cold=with_cold or only is not None,
            least=limit if is_wide else 0,
            with_project=plan is not None and plan.has_tiers,
            also=(*read.also, *read.predicted, *further),
        ),
    )
    kept = None
    if rows is not None and only is None:
        ids = [row.memory_id for row in found.rows]
        kept = set(rows.filter(id__in=ids).values_list("id", flat=True))
    summaries = [
        row.memory_id for row in found.rows if retells(tags=row.tags, memory_type=row.memory_type)
    ]
    outdated = outdated_summaries(team_id=viewer.team_id, ids=summaries)
    on_request = plan.on_request if plan is not None and rows is None else ()
    wanted = [
        row
        for row in found.rows
        if (kept is None or row.memory_id in kept)
        and row.memory_id not in outdated
        and (row.is_pinned or row.memory_type not in on_request)
    ]
    return replace(found, rows=wanted)


def level_of(memory: Memory) -> Level:
    """Returns where a memory comes from; past ones lie with the cold ones."""
    if memory.status not in LIVE or memory.tier == Tier.COLD:
        return Level.COLD
    return Level.HOT if memory.tier == Tier.HOT else Level.WARM


def _behind_successors(
    *, team_id: UUID, ranked: Sequence[Ranked]
) -> tuple[list[Ranked], dict[UUID, UUID]]:
    """The memories, none that is past before its successor, and the last successor of each.

    Successors that were not found are left out.
    """
    past = {each.row.memory_id for each in ranked if not each.row.is_live}
    if not past:
        return list(ranked), {}
    standing = {each.row.memory_id for each in ranked if each.row.is_live}
    after = _successors(team_id, past, standing)
    scores = {each.row.memory_id: each.score for each in ranked}
    kept, ends = [], {}
    for each in ranked:
        if each.row.is_live:
            kept.append(each)
            continue
        # Below all successors that were found.
        score, key, share = each.score, each.row.memory_id, 1.0
        for _ in range(_LONGEST_CHAIN):
            if key not in after:
                break
            key, share = after[key], share * BEHIND
            score = min(score, share * scores.get(key, 1.0))
        kept.append(each._replace(score=score, rank=score))
        if key in standing:
            ends[each.row.memory_id] = key
    return sorted(kept, key=lambda each: (-each.score, each.row.memory_id)), ends


def told_alone(ends: Mapping[UUID, UUID], told: Collection[UUID]) -> set[UUID]:
    """Returns the past memories that would be told without their successors."""
    return {past for past, end in ends.items() if past in told and end not in told}


def _successors(
    team_id: UUID, ids: Collection[UUID], standing: Collection[UUID]
) -> dict[UUID, UUID]:
    """The successors of each, to the end of the chains; `standing` ones have none."""
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


# Chosen on LoCoMo, the labelled questions and histories of commits: with fewer or a higher share
# answers are lost.
_BEST = 20
_LEAST_SHARE = 0.35
_TIME = [each.name for each in fields(Parts)].index("time")
# Of the 0.15 to 0.2 that fitting the time asked for adds to relevance.
_OF_THE_TIME = 0.1


def least_relevance(found: Candidates) -> float | None:
    """Returns the relevance (0-1) that a prompt asks of candidates where the request names none.

    None if there are few. Otherwise the best `_BEST` have it, and so does whatever says at least
    `_LEAST_SHARE` of what the best says (docs/decisions/0081-one-ranking.md). Unconfirmed ones set
    no measure for the others.
    """
    candidates: list[Ranked | RankedMessage] = [*found.memories, *found.messages]
    candidates = [each for each in candidates if not each.row.is_unconfirmed]
    if len(candidates) <= _BEST:
        return None
    relevance = candidates[0].table.semantic[[each.place for each in candidates]]
    last_of_best = float(np.partition(relevance, -_BEST)[-_BEST])
    return min(last_of_best, _LEAST_SHARE * max(float(relevance.max()), LEAST_BEST))


def relevant(
    found: Candidates, min_score: float | None, *, always: Callable[[Ranked], bool]
) -> Candidates:
    """Returns the candidates of at least that relevance (0-1).

    Without a `min_score` nothing is left out. Kept as well are candidates of the time that is
    asked for, memories that are `always` told, and those that a kept one contradicts or was
    superseded by: nothing disputed is told without its other side, nothing past without its
    successor.
    """
    if min_score is None:
        return found
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
    return replace(found, memories=memories, messages=messages)


def _says_enough(
    candidates: Sequence[Ranked] | Sequence[RankedMessage], min_score: float
) -> list[bool]:
    """Returns, by place in the shared table, whether each is relevant or of the time asked for."""
    if not candidates:
        return []
    table = candidates[0].table
    enough = table.semantic >= min_score
    if table.parts is not None:
        enough = enough | (table.parts[_TIME] >= _OF_THE_TIME)
    found: list[bool] = enough.tolist()
    return found
