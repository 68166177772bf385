"""Statements side by side on the pages of the inbox, each with its source messages and its use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.utils.safestring import SafeString

from memory.domain.types import MemoryType
from memory.models import Memory, MemoryUsage
from teams.admin.conversations import Quote, passages_of
from teams.admin.display import actor_words

from .memory_list import status_words

MOST_SOURCES = 3


@dataclass(frozen=True, slots=True)
class Side:
    """One statement of an item as the reviewer sees it.

    `talks` are its source messages with their neighbours, `sources` how many there are. Without a
    `memory` it is only proposed, and `facts` stand below it.
    """

    title: str
    text: SafeString | str
    talks: Sequence[Sequence[Quote]] = ()
    sources: int = 0
    memory: Memory | None = None
    usage: MemoryUsage | None = None
    facts: str = ""
    is_new: bool = False

    @property
    def more(self) -> int:
        """The number of source messages that are not shown."""
        return max(self.sources - MOST_SOURCES, 0)

    @property
    def stated_by(self) -> str:
        return actor_words(self.memory.actor) if self.memory else ""

    @property
    def status_words(self) -> str:
        return status_words(self.memory.status) if self.memory else ""

    @property
    def audience(self) -> str:
        """Returns the readers in words."""
        return audience_words(self.memory) if self.memory else ""


def audience_words(memory: Memory) -> str:
    """Returns who is told of a memory, in words."""
    who = "all agents"
    if memory.agent:
        is_private = memory.memory_type in (MemoryType.AGENT_PRIVATE, MemoryType.IDENTITY)
        is_alone = is_private or not memory.end_user
        who = f"{memory.agent} only" if is_alone else f"{memory.agent}"
    whom = f", in conversations with {memory.end_user}" if memory.end_user else ""
    where = f", in the project {memory.project}" if memory.project else ""
    return f"{who}{whom}{where}"


def sides_of(
    shown: Sequence[tuple[str, Memory, SafeString | str]],
    *,
    team_id: UUID,
    also: Mapping[Any, Sequence[UUID]],
) -> tuple[list[Side], dict[Any, list[list[Quote]]]]:
    """Returns the sides of these memories, by title and text, and the talks of `also` by its keys.

    Three queries for all of them.
    """
    # Any: whatever the caller's keys are
    wanted = {each[1].pk: each[1].source_message_ids[-MOST_SOURCES:] for each in shown}
    rest = {key: list(ids)[-MOST_SOURCES:] for key, ids in also.items()}
    talks = passages_of(wanted | rest, team_id=team_id)
    used = MemoryUsage.objects.filter(team_id=team_id).in_bulk([*wanted])
    sides = [
        Side(
            title,
            text,
            talks[memory.pk],
            len(memory.source_message_ids),
            memory,
            used.get(memory.pk) or MemoryUsage(memory=memory),
        )
        for title, memory, text in shown
    ]
    return sides, {key: talks[key] for key in rest}
