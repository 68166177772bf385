"""What a memory's page shows beside the row itself: where it came from and what became of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from django.core.exceptions import ObjectDoesNotExist
from django.db.models import Q
from django.urls import reverse

from audit.models import MemoryLog
from memory.models import Contradiction, Memory, MemoryRelation, MemoryUsage
from teams.admin.conversations import message_url
from teams.models import Message

MAX_VERSIONS = 20
MAX_RELATIONS = 20
MAX_DISPUTES = 20
MAX_LOG = 50
MAX_SOURCES = 50


@dataclass(frozen=True, slots=True)
class Source:
    """A message the memory was taken from, and where it stands."""

    message: Message
    url: str


@dataclass(frozen=True, slots=True)
class Dispute:
    """A contradiction, seen from one side; without an other one somebody said it is wrong."""

    contradiction: Contradiction
    other: Memory | None


@dataclass(frozen=True, slots=True)
class Edge:
    """A relation to another memory, outwards or inwards."""

    relation: MemoryRelation
    other: Memory
    outward: bool


@dataclass(frozen=True, slots=True)
class Difference:
    """One column of the state, before and after."""

    column: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class LogLine:
    """A row of the log and what it changed; a first row changes nothing."""

    entry: MemoryLog
    event: str
    differences: list[Difference]


@dataclass(frozen=True, slots=True)
class MemoryPage:
    """Everything about one memory that stands in other tables."""

    memory: Memory
    sources: list[Source]
    versions: list[Memory]
    disputes: list[Dispute]
    edges: list[Edge]
    usage: MemoryUsage | None
    log: list[LogLine]
    log_url: str


def memory_page(*, memory: Memory) -> MemoryPage:
    """Gather the page; a fixed number of queries and one for each other version."""
    return MemoryPage(
        memory=memory,
        sources=_sources(memory),
        versions=_versions(memory),
        disputes=_disputes(memory),
        edges=_edges(memory),
        usage=_usage(memory),
        log=_log(memory),
        log_url=f"{reverse('admin:audit_memorylog_changelist')}?q={memory.pk}",
    )


def _sources(memory: Memory) -> list[Source]:
    rows = Message.objects.filter(
        team_id=memory.team_id, pk__in=memory.source_message_ids[:MAX_SOURCES]
    ).order_by("created_at", "position")
    return [
        Source(row, message_url(conversation_id=row.conversation_id, position=row.position))
        for row in rows
    ]


def _versions(memory: Memory) -> list[Memory]:
    """The chain from the oldest to the newest, this memory included; alone it is no chain."""
    chain = [memory]
    seen = {memory.pk}
    for step, at_end in (("supersedes_id", False), ("superseded_by_id", True)):
        row = memory
        while len(chain) < MAX_VERSIONS:
            next_id: UUID | None = getattr(row, step)
            if next_id is None or next_id in seen:
                break
            row = Memory.objects.get(team_id=memory.team_id, pk=next_id)
            seen.add(row.pk)
            chain.insert(len(chain) if at_end else 0, row)
    return chain if len(chain) > 1 else []


def _disputes(memory: Memory) -> list[Dispute]:
    rows = (
        Contradiction.objects.filter(
            Q(memory_a=memory) | Q(memory_b=memory), team_id=memory.team_id
        )
        .select_related("memory_a", "memory_b")
        .order_by("-detected_at")[:MAX_DISPUTES]
    )
    return [
        Dispute(row, row.memory_b if row.memory_a_id == memory.pk else row.memory_a) for row in rows
    ]


def _edges(memory: Memory) -> list[Edge]:
    rows = (
        MemoryRelation.objects.filter(
            Q(from_memory=memory) | Q(to_memory=memory), team_id=memory.team_id
        )
        .select_related("from_memory", "to_memory")
        .order_by("-strength")[:MAX_RELATIONS]
    )
    return [
        Edge(row, row.to_memory if outward else row.from_memory, outward)
        for row in rows
        for outward in [row.from_memory_id == memory.pk]
    ]


def _usage(memory: Memory) -> MemoryUsage | None:
    try:
        return memory.usage
    except ObjectDoesNotExist:
        return None


def _log(memory: Memory) -> list[LogLine]:
    # One more than is shown, so that the last one shown has something to be compared with.
    rows = list(
        MemoryLog.objects.filter(team_id=memory.team_id, memory_id=memory.pk).order_by("-seq")[
            : MAX_LOG + 1
        ]
    )
    earlier = [*rows[1:], None]
    return [
        LogLine(
            entry,
            entry.event.replace("_", " "),
            _differences(before.state, entry.state) if before else [],
        )
        for entry, before in zip(rows[:MAX_LOG], earlier, strict=False)
    ]


def _differences(before: Mapping[str, object], after: Mapping[str, object]) -> list[Difference]:
    return [
        Difference(column, _shown(before.get(column)), _shown(after.get(column)))
        for column in sorted({*before, *after})
        if before.get(column) != after.get(column)
    ]


def _shown(value: object) -> str:
    if value in (None, "", [], {}):
        return "–"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return str(value)
