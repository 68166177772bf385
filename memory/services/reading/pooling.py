"""Memories and messages that compete for one answer, on one scale."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from memory.domain.scoring import Signals, SignalTable
from memory.selectors.searching.candidates import JoinedPool
from memory.selectors.searching.raw_signals import FoundMessages, MessageRow
from memory.selectors.searching.signal_rows import Found
from memory.selectors.sources import sources_among
from memory.services.reading.ranking import Ranked, ReadQuestion, Score, ordered, score_pool


class RankedMessage(NamedTuple):
    """A message that is not loaded yet, with its score 0-1 on the scale of memories."""

    row: MessageRow
    score: float
    table: SignalTable
    place: int

    @property
    def signals(self) -> Signals:
        """The signals behind the score."""
        return self.table.at(self.place)


def together(
    *,
    team_id: UUID,
    question: ReadQuestion,
    found: Found,
    messages: FoundMessages,
    score: Score,
    now: datetime,
) -> tuple[list[Ranked], list[RankedMessage]]:
    """Memories and messages on one scale: the same rarity of words, each other's neighbours.

    Each kind is best first; of the messages those of which no memory ranks higher.
    """
    pool = JoinedPool.of(found, messages)
    table, scores = score_pool(question=question, pool=pool, score=score, now=now)
    first = len(found.rows)
    memories = ordered(found.rows, table, scores[:first])
    said = sorted(
        (
            RankedMessage(row, value, table, first + place)
            for place, (row, value) in enumerate(zip(messages.rows, scores[first:], strict=True))
        ),
        key=lambda each: (-each.score, each.row.message_id),
    )
    best = _best_of_sources(team_id, memories, messages)
    return memories, [each for each in said if each.score > best.get(each.row.message_id, -1.0)]


def _best_of_sources(
    team_id: UUID, memories: Sequence[Ranked], messages: FoundMessages
) -> dict[UUID, float]:
    """For each message of which a candidate was made, the score of the best such memory.

    What a memory replaced was made of messages too: they would only say again what is past.
    """
    scores = {each.row.memory_id: each.score for each in memories}
    pairs = sources_among(
        team_id=team_id,
        memory_ids=list(scores),
        message_ids=[row.message_id for row in messages.rows],
    )
    best: dict[UUID, float] = {}
    for memory_id, message_id in pairs:
        best[message_id] = max(best.get(message_id, 0.0), scores[memory_id])
    return best
