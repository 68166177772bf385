"""What speaks for each side of a contradiction: the talk it came from, and who makes use of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Q
from django.utils.safestring import SafeString

from memory.domain.judgements import MERGED
from memory.domain.types import MemoryType
from memory.models import Contradiction, Memory, MemoryUsage
from teams.admin.conversations import message_url
from teams.admin.display import actor_words
from teams.models import Message

from .sides import marked

MAX_SOURCES = 3
_OF_AN_AGENT = (MemoryType.AGENT_PRIVATE, MemoryType.IDENTITY)


@dataclass(frozen=True, slots=True)
class Line:
    """A message, whether the memory came from it or stands next to such a one."""

    message: Message
    is_source: bool
    url: str

    @property
    def speaker(self) -> str:
        """Who said it."""
        role = self.message.get_role_display()
        return f"{role} ({self.message.name})" if self.message.name else role


@dataclass(frozen=True, slots=True)
class Side:
    """One memory of a contradiction as the reviewer sees it.

    `letter` is "a" or "b", and empty for what was written in place of both; `talks` are stretches
    of talk, each its source messages with their neighbours; `more` counts sources that are not
    shown.
    """

    letter: str
    title: str
    memory: Memory
    text: SafeString | str
    talks: Sequence[Sequence[Line]]
    more: int
    usage: MemoryUsage
    audience: str

    @property
    def stated_by(self) -> str:
        """Who stored it, in words."""
        return actor_words(self.memory.actor)

    @property
    def status_words(self) -> str:
        """How it stands, in words."""
        return self.memory.get_status_display().replace("_", " ")


def sides_of(pair: Contradiction) -> list[Side]:
    """Its sides, after what was written in their place where they were merged; four queries."""
    a, b = pair.memory_a, pair.memory_b
    shown: list[tuple[str, str, Memory, SafeString | str]]
    if b is None:
        shown = [("a", "Reported as wrong", a, a.content)]
    else:
        shown = [
            ("a", "A, the earlier", a, marked(a.content, b.content)),
            ("b", "B, the later", b, marked(b.content, a.content)),
        ]
    if pair.resolution == MERGED and a.superseded_by is not None:
        title = "Written in their place" if b else "Written in its place"
        shown.insert(0, ("", title, a.superseded_by, a.superseded_by.content))
    memories = [memory for _, _, memory, _ in shown]
    talks = _talks_of(memories)
    used = MemoryUsage.objects.filter(team_id=pair.team_id).in_bulk([each.pk for each in memories])
    return [
        Side(
            letter,
            title,
            memory,
            text,
            talks[memory.pk],
            max(len(memory.source_message_ids) - MAX_SOURCES, 0),
            used.get(memory.pk) or MemoryUsage(memory=memory),
            audience_of(memory),
        )
        for letter, title, memory, text in shown
    ]


def audience_of(memory: Memory) -> str:
    """Who is told of it, in words."""
    if memory.memory_type in _OF_AN_AGENT or (memory.agent and not memory.end_user):
        who = f"{memory.agent} only"
    elif memory.agent:
        who = f"{memory.agent}"
    else:
        who = "all agents"
    whom = f", in talk with {memory.end_user}" if memory.end_user else ""
    where = f", in the project {memory.project}" if memory.project else ""
    return f"{who}{whom}{where}"


def _talks_of(memories: Sequence[Memory]) -> dict[UUID, list[list[Line]]]:
    """The last source messages of each, with the message before and the one after; two queries."""
    wanted = {each.pk: set(each.source_message_ids[-MAX_SOURCES:]) for each in memories}
    ids = {message_id for each in wanted.values() for message_id in each}
    if not ids:
        return {each.pk: [] for each in memories}
    team_id = memories[0].team_id
    sources = list(Message.objects.filter(team_id=team_id, pk__in=ids))
    around = Q(pk__in=())
    for row in sources:
        places = (row.position - 1, row.position + 1)
        around |= Q(conversation_id=row.conversation_id, position__range=places)
    rows = Message.objects.filter(around, team_id=team_id).order_by("created_at", "position")
    by_place = {(row.conversation_id, row.position): row for row in rows}
    return {
        each.pk: _stretches([row for row in sources if row.pk in wanted[each.pk]], by_place)
        for each in memories
    }


def _stretches(
    sources: Sequence[Message], by_place: dict[tuple[UUID, int], Message]
) -> list[list[Line]]:
    """The sources with their neighbours, one stretch for what follows each other."""
    own = {row.pk for row in sources}
    places = {
        (row.conversation_id, row.position + step) for row in sources for step in (-1, 0, 1)
    } & by_place.keys()
    found: list[list[Line]] = []
    last: tuple[UUID, int] | None = None
    for place in sorted(places, key=lambda each: (str(each[0]), each[1])):
        row = by_place[place]
        url = message_url(conversation_id=row.conversation_id, position=row.position)
        line = Line(row, row.pk in own, url)
        if last is not None and (last[0], last[1] + 1) == place:
            found[-1].append(line)
        else:
            found.append([line])
        last = place
    return found
