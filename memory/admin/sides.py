"""Statements side by side in the inbox: what differs, the source messages, and the use of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from memory.domain.differences import text_parts
from memory.domain.types import MemoryType
from memory.models import Memory, MemoryUsage
from teams.admin.conversations import Quote, passages_of
from teams.admin.display import actor_words

from .memory_list import status_words

MOST_SOURCES = 3


@dataclass(frozen=True, slots=True)
class Side:
    """One statement of an item as the reviewer sees it, compared with the text of the `other`.

    Without a `memory` it is only proposed: `source_ids` are its messages, and `facts` stand below.
    `talks` are source messages with their neighbours; `with_talks` adds them.
    """

    title: str
    text: str
    other: str = ""
    memory: Memory | None = None
    source_ids: Sequence[UUID] = ()
    facts: str = ""
    is_new: bool = False
    talks: Sequence[Sequence[Quote]] = ()
    usage: MemoryUsage | None = None

    @property
    def marked(self) -> SafeString | str:
        return marked(self.text, self.other) if self.other else self.text

    @property
    def sources(self) -> Sequence[UUID]:
        return self.memory.source_message_ids if self.memory else self.source_ids

    @property
    def more(self) -> int:
        """The number of source messages that are not shown."""
        return max(len(self.sources) - MOST_SOURCES, 0)

    @property
    def stated_by(self) -> str:
        return actor_words(self.memory.actor) if self.memory else ""

    @property
    def status_words(self) -> str:
        return status_words(self.memory.status) if self.memory else ""

    @property
    def audience(self) -> str:
        """Returns the readers in words."""
        memory = self.memory
        if memory is None:
            return ""
        who = "all agents"
        if memory.agent:
            is_private = memory.memory_type in (MemoryType.AGENT_PRIVATE, MemoryType.IDENTITY)
            is_alone = is_private or not memory.end_user
            who = f"{memory.agent} only" if is_alone else f"{memory.agent}"
        whom = f", in conversations with {memory.end_user}" if memory.end_user else ""
        where = f", in the project {memory.project}" if memory.project else ""
        return f"{who}{whom}{where}"


def with_talks(sides: Sequence[Side], *, team_id: UUID) -> list[Side]:
    """Returns the sides with their source messages and use; three queries for all of them."""
    wanted = {side.title: side.sources[-MOST_SOURCES:] for side in sides}
    talks = passages_of(wanted, team_id=team_id)
    ids = [side.memory.pk for side in sides if side.memory]
    used = MemoryUsage.objects.filter(team_id=team_id).in_bulk(ids)

    def usage_of(memory: Memory) -> MemoryUsage:
        return used.get(memory.pk) or MemoryUsage(memory=memory)

    return [
        replace(side, talks=talks[side.title], usage=usage_of(side.memory) if side.memory else None)
        for side in sides
    ]


# -- what differs ----------------------------------------------------------------------------


def aligned_excerpts(first: str, second: str, *, length: int) -> tuple[str, str]:
    """Both texts on one line of at most `length` characters each, their first difference in it."""
    one, other = " ".join(first.split()), " ".join(second.split())
    differing = (n for n, both in enumerate(zip(one, other, strict=False)) if both[0] != both[1])
    shared, start = next(differing, min(len(one), len(other))), 0
    if max(len(one), len(other)) > length and shared > length // 2:
        start = max(shared - length // 3, 0)
        blank = one.rfind(" ", start - length // 4, start)
        start = blank + 1 if blank >= 0 else start
    return _cut(one, start, length), _cut(other, start, length)


def _cut(text: str, start: int, length: int) -> str:
    rest = f"…{text[start:]}" if start else text
    return rest if len(rest) <= length else f"{rest[: length - 1]}…"


def marked(text: str, other: str) -> SafeString:
    """Returns the whole text, with the words marked that the other one does not have there."""
    parts = [part for part in text_parts(other, text) if part.kind != "gone"]
    lines = (
        (format_html("<mark>{}</mark>", part.text) if part.kind == "new" else part.text,)
        for part in parts
    )
    return format_html_join("", "{}", lines)


def marked_excerpts(first: str, second: str, *, length: int) -> tuple[SafeString | str, ...]:
    """Returns excerpts of both with what differs marked; without a second text nothing is."""
    one, other = aligned_excerpts(first, second, length=length)
    return (marked(one, other), marked(other, one)) if first and second else (one, other)
