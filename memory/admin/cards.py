"""Memories as cards: what one needs to see of each to decide between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.utils.safestring import SafeString

from memory.models import Memory
from teams.admin.conversations import message_url
from teams.admin.display import actor_words
from teams.models import Message

_MAX_QUOTES = 2


@dataclass(frozen=True, slots=True)
class Source:
    """A message the memory was taken from, and where it stands."""

    message: Message
    url: str


@dataclass(frozen=True, slots=True)
class Card:
    """A memory under a title, its text as it is to be shown, and the last messages that said it."""

    title: str
    memory: Memory
    text: SafeString | str
    quotes: Sequence[Source]

    @property
    def by(self) -> str:
        """Who stored it, in words."""
        return actor_words(self.memory.actor)


def card_of(memory: Memory) -> Card:
    """One memory as a card."""
    (card,) = _quoted([("Current text", memory, memory.content)])
    return card


def sources_of(message_ids: Sequence[UUID], *, memory: Memory) -> list[Source]:
    """These messages of the memory's team in the order they were said, with their places."""
    rows = Message.objects.filter(team_id=memory.team_id, pk__in=message_ids)
    return [
        Source(row, message_url(conversation_id=row.conversation_id, position=row.position))
        for row in rows.order_by("created_at", "position")
    ]


def _quoted(shown: Sequence[tuple[str, Memory, SafeString | str]]) -> list[Card]:
    wanted = {each for _, memory, _ in shown for each in memory.source_message_ids[-_MAX_QUOTES:]}
    sources = sources_of([*wanted], memory=shown[0][1]) if wanted else []
    return [
        Card(
            title,
            memory,
            text,
            [
                source
                for source in sources
                if source.message.pk in memory.source_message_ids[-_MAX_QUOTES:]
            ],
        )
        for title, memory, text in shown
    ]
