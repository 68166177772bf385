"""What a memory's page shows beside the row itself: where it came from and what became of it."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.core.exceptions import ObjectDoesNotExist
from django.db.models import Q
from django.urls import reverse

from memory.domain.settled import MERGED
from memory.models import Contradiction, Memory, MemoryRelation, MemoryUsage

from .cards import Source, sources_of
from .memory_history import LogLine, history_of
from .sides import resolution_words

MAX_VERSIONS = 20
MAX_RELATIONS = 20
MAX_DISPUTES = 20
MAX_SOURCES = 50


@dataclass(frozen=True, slots=True)
class Dispute:
    """A contradiction, seen from one side; without an other one somebody said it is wrong."""

    contradiction: Contradiction
    other: Memory | None

    @property
    def resolution(self) -> str:
        """How it was settled, in words, or that it is open."""
        return resolution_words(self.contradiction)


@dataclass(frozen=True, slots=True)
class Edge:
    """A relation to another memory, outwards or inwards."""

    relation: MemoryRelation
    other: Memory
    outward: bool


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
        sources=sources_of(memory.source_message_ids[:MAX_SOURCES], memory=memory),
        versions=_versions(memory),
        disputes=_disputes(memory),
        edges=_edges(memory),
        usage=_usage(memory),
        log=history_of(memory),
        log_url=f"{reverse('admin:audit_memorylog_changelist')}?q={memory.pk}",
    )


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
    of_it = Q(memory_a=memory) | Q(memory_b=memory)
    if memory.extractor == "merged":
        # What was written in place of both sides is none of them.
        sides = MemoryRelation.objects.filter(
            team_id=memory.team_id, from_memory=memory, relation_type="merged_from"
        ).values_list("to_memory_id", flat=True)
        of_it |= Q(memory_a__in=[*sides], resolution=MERGED)
    rows = (
        Contradiction.objects.filter(of_it, team_id=memory.team_id)
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
