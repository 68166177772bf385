"""How deep a read looks: what is hot and warm, then cold, then the messages themselves.

A deeper level is reached when the caller asks for it, or when nobody said and the levels above
found nothing that says much about the question. A question for what was before asks for what is
cold, and past.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from django.conf import settings

from memory.clients.tools import Tools
from memory.domain.types import Tier
from memory.domain.viewer import Viewer
from memory.models import Memory
from memory.models.memory import LIVE
from memory.models.querysets import MemoryQuerySet
from memory.selectors.outdated_summaries import outdated_summaries
from memory.selectors.revisions import Revision
from memory.selectors.searching.narrowing import narrowed
from memory.selectors.searching.raw_signals import find_messages
from memory.selectors.searching.signal_rows import Found
from memory.selectors.searching.signals import has_cold
from memory.services.compacting.summaries import SUMMARY_TAG
from memory.services.reading.in_view import out_of_view
from memory.services.reading.just_said import read_just_said, with_just_said
from memory.services.reading.pooling import RankedMessage, together
from memory.services.reading.ranking import (
    Ranked,
    ReadQuestion,
    Score,
    find,
    ordered,
    score_pool,
    sought_by,
)
from memory.services.reading.successors import behind_successors


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
class Descent:
    """What was found on the way down, each kind best first, and the levels that were searched.

    Messages of which a memory ranks higher are left out. `ends` are those of `behind_successors`.
    """

    memories: list[Ranked]
    messages: list[RankedMessage]
    searched: tuple[Level, ...]
    ends: Mapping[UUID, UUID]


def level_of(memory: Memory) -> Level:
    """Where a memory comes from; what is past lies with the cold ones."""
    if memory.status not in LIVE or memory.tier == Tier.COLD:
        return Level.COLD
    return Level.HOT if memory.tier == Tier.HOT else Level.WARM


def descend(
    *,
    viewer: Viewer,
    question: ReadQuestion,
    score: Score,
    depth: Depth,
    tools: Tools,
    now: datetime,
    rows: MemoryQuerySet | None = None,
    least: int = 0,
    revision: Revision | None = None,
) -> Descent:
    """Candidates from the levels that the depth asks for; call it in the team's scope.

    `rows` narrows the memories, of which at least `least` are ranked, however little they say;
    messages fit no such filter, so that they are reached only when they are asked for. `revision`
    is the team's in this transaction.
    """
    if depth.include_cold is None and question.asked.of_past:
        depth = replace(depth, include_cold=True)
    searched = [Level.HOT, Level.WARM]
    found, ranked = _memories(
        viewer, question, score, now, rows, least, revision, with_cold=depth.include_cold
    )
    if depth.include_cold is None and strength(ranked) < settings.CASCADE_COLD_BELOW:
        if has_cold(viewer=viewer, revision=revision):
            found, ranked = _memories(
                viewer, question, score, now, rows, least, revision, with_cold=True, is_asked=False
            )
        searched.append(Level.COLD)
    elif depth.include_cold:
        searched.append(Level.COLD)
    wants_raw = depth.include_raw
    if wants_raw is None:
        wants_raw = rows is None and strength(ranked) < settings.CASCADE_RAW_BELOW
    if not wants_raw:
        return _reached(viewer, depth, ranked, [], searched)
    searched.append(Level.RAW)
    just_said = read_just_said(viewer=viewer, question=question, tools=tools, revision=revision)
    messages = find_messages(viewer=viewer, sought=sought_by(question), revision=revision)
    messages = with_just_said(messages, just_said)
    if not messages.rows:
        return _reached(viewer, depth, ranked, [], searched)
    ranked, said = together(
        team_id=viewer.team_id,
        question=question,
        found=found,
        messages=messages,
        score=score,
        now=now,
    )
    if depth.include_raw is None:
        said = out_of_view(team_id=viewer.team_id, question=question, said=said)
    return _reached(viewer, depth, ranked, said, searched)


def _reached(
    viewer: Viewer,
    depth: Depth,
    ranked: list[Ranked],
    said: list[RankedMessage],
    searched: Sequence[Level],
) -> Descent:
    ends: dict[UUID, UUID] = {}
    if depth.include_cold:
        ranked, ends = behind_successors(team_id=viewer.team_id, ranked=ranked)
    return Descent(ranked, said, tuple(searched), ends)


def strength(ranked: Sequence[Ranked]) -> float:
    """How much the best candidate says about the question: its relevance 0-1, whatever its rank."""
    if not ranked:
        return 0.0
    return float(ranked[0].table.semantic[: len(ranked)].max())


def _memories(
    viewer: Viewer,
    question: ReadQuestion,
    score: Score,
    now: datetime,
    rows: MemoryQuerySet | None,
    least: int,
    revision: Revision | None,
    *,
    with_cold: bool | None,
    is_asked: bool = True,
) -> tuple[Found, list[Ranked]]:
    """The memories of one depth, without summaries that tell what holds no longer.

    Unasked, what is past stays away: it is not true any more.
    """
    only = kept = None
    if rows is not None:
        rows = rows.searchable(include_cold=bool(with_cold))
        only = narrowed(viewer=viewer, rows=rows)
    found = find(
        viewer=viewer,
        question=question,
        only=only,
        with_cold=bool(with_cold) or only is not None,
        least=least,
        revision=revision,
    )
    if rows is not None and only is None:
        ids = [row.memory_id for row in found.rows]
        kept = set(rows.filter(id__in=ids).values_list("id", flat=True))
    summaries = [row.memory_id for row in found.rows if SUMMARY_TAG in (row.tags or ())]
    outdated = outdated_summaries(team_id=viewer.team_id, ids=summaries)
    if kept is not None or outdated or not is_asked:
        found = Found(
            rows=[
                row
                for row in found.rows
                if (kept is None or row.memory_id in kept)
                and row.memory_id not in outdated
                and (is_asked or row.is_live)
            ],
            total=found.total,
            holding=found.holding,
            without_lexeme=found.without_lexeme,
        )
    if not found.rows:
        return found, []
    table, scores = score_pool(question=question, pool=found, score=score, now=now)
    return found, ordered(found.rows, table, scores)
