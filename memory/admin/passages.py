"""The talk a memory was taken from: its source messages, each with its two neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from uuid import UUID

from django.db.models import Q

from teams.admin.conversations import message_url
from teams.models import Message


@dataclass(frozen=True, slots=True)
class Line:
    """A message of a passage; a source is what the memory was taken from."""

    message: Message
    is_source: bool
    url: str


@dataclass(frozen=True, slots=True)
class Passage:
    """Messages of one conversation that follow each other, in their order."""

    lines: list[Line]

    @property
    def thread(self) -> str:
        """The conversation's name."""
        return self.lines[0].message.conversation.thread_id


def passages_of(message_ids: Sequence[UUID], *, team_id: UUID) -> list[Passage]:
    """These messages of the team, the oldest first, with one neighbour before and one after each.

    Neighbouring passages of a conversation are one. Two queries, none for no messages.
    """
    if not message_ids:
        return []
    wanted = Message.objects.filter(team_id=team_id, pk__in=message_ids)
    places = list(wanted.values_list("conversation_id", "position"))
    around = Q()
    for conversation_id, position in places:
        around |= Q(conversation_id=conversation_id, position__range=(position - 1, position + 1))
    if not places:
        return []
    rows = Message.objects.filter(around, team_id=team_id).select_related("conversation")
    ordered = sorted(
        rows, key=lambda row: (row.conversation.created_at, row.conversation_id, row.position)
    )
    sources = set(places)
    lines = [
        Line(
            row,
            (row.conversation_id, row.position) in sources,
            message_url(conversation_id=row.conversation_id, position=row.position),
        )
        for row in ordered
    ]
    # Positions of messages that follow each other are as far apart as their places in the list.
    runs = groupby(
        enumerate(lines),
        key=lambda each: (each[1].message.conversation_id, each[1].message.position - each[0]),
    )
    return [Passage([line for _, line in run]) for _, run in runs]
