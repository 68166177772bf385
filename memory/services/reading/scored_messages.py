"""The messages of an answer, loaded: what was said that no better memory says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from memory.domain.said import says_nothing, says_the_same, searchable_text
from memory.domain.scoring import Signals
from memory.domain.viewer import Viewer
from memory.selectors.spoken import SpokenMessage, spoken_messages
from memory.services.reading.pooling import RankedMessage
from memory.services.reading.ranking import ReadQuestion

# Of the messages found, so many may be the question itself or say nothing.
_SPARE = 10


@dataclass(frozen=True, slots=True)
class ScoredMessage:
    """A message that was found; `text` is what of it is searched and may be shown."""

    id: UUID
    conversation_id: UUID
    position: int
    role: str
    speaker: str
    external_id: str | None
    said_at: datetime
    text: str
    score: float
    signals: Signals
    tokens: int = 0


def load_messages(
    *, viewer: Viewer, question: ReadQuestion, ranked: Sequence[RankedMessage], most: int
) -> list[ScoredMessage]:
    """The best `most` messages, loaded, in their order; call it in the team's scope.

    Without those that are the question, and without courtesies, unless the question's words are
    in them.
    """
    wanted = ranked[: most + _SPARE]
    ids = [each.row.message_id for each in wanted]
    known = spoken_messages(team_id=viewer.team_id, ids=ids)
    found = []
    for each in wanted:
        message = known[each.row.message_id]
        text = searchable_text(message.content)
        is_idle = not each.row.terms and says_nothing(text)
        if not is_idle and not says_the_same(text, question.asked.text):
            found.append(_scored(each, message, text))
    return found[:most]


def _scored(ranked: RankedMessage, message: SpokenMessage, text: str) -> ScoredMessage:
    return ScoredMessage(
        id=message.id,
        conversation_id=message.conversation_id,
        position=message.position,
        role=message.role,
        speaker=message.speaker,
        external_id=message.external_id,
        said_at=message.said_at,
        text=text,
        score=ranked.score,
        signals=ranked.signals,
    )
