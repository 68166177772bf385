"""What of a conversation its reader has before them anyhow."""

from __future__ import annotations

from collections.abc import Container, Sequence
from uuid import UUID

from memory.services.reading.pooling import RankedMessage
from memory.services.reading.ranking import ReadQuestion
from teams.models import Conversation

# As many of a conversation's messages as any client keeps before its model.
LATEST_IN_VIEW = 10


def out_of_view(
    *, team_id: UUID, question: ReadQuestion, said: Sequence[RankedMessage]
) -> list[RankedMessage]:
    """The messages without those of the question's own conversation that whoever asks reads anyhow.

    Where the question does not say which those are, they are the last LATEST_IN_VIEW. Call it in
    the team's scope.
    """
    own = question.conversation_id
    if own is None:
        return list(said)
    at_hand: Container[int]
    if question.in_view is not None:
        at_hand = set(question.in_view)
    else:
        rows = Conversation.objects.filter(team_id=team_id, pk=own)
        last = rows.values_list("last_position", flat=True).first() or 0
        at_hand = range(last - LATEST_IN_VIEW + 1, last + 1)
    return [
        each for each in said if each.row.conversation_id != own or each.row.position not in at_hand
    ]
