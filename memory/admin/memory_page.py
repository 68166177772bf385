"""What a memory's page shows beside the row itself: where it came from and what became of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Q
from django.urls import reverse

from audit.models import MemoryLog
from memory.domain.settled import MERGED
from memory.models import Contradiction, Memory, MemoryRelation, MemoryUsage
from teams.admin.display import NOTHING, excerpt

from .cards import sources_of
from .sides import resolution_words

MAX_VERSIONS = 20
MAX_RELATIONS = 20
MAX_DISPUTES = 20
MAX_SOURCES = 50
MAX_LOG = 50
_NAME_CHARS = 60
# Columns of the state that hold ids of other memories.
_OTHERS = ("contradicts", "supersedes_id", "superseded_by_id")

Names = Mapping[str, str]


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
class Difference:
    """One column of the state, before and after."""

    column: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class LogLine:
    """A row of the log, what it changed and what it linked; a first row changes nothing."""

    entry: MemoryLog
    event: str
    differences: list[Difference]
    links: list[str]


def memory_page(*, memory: Memory) -> dict[str, Any]:  # Any: a template's context
    """What stands of a memory in other tables.

    A fixed number of queries and one for each other version.
    """
    return {
        "memory": memory,
        "sources": sources_of(memory.source_message_ids[:MAX_SOURCES], memory=memory),
        "versions": _versions(memory),
        "disputes": _disputes(memory),
        "edges": _edges(memory),
        "usage": MemoryUsage.objects.filter(memory=memory).first(),
        "log": history_of(memory),
        "log_url": f"{reverse('admin:audit_memorylog_changelist')}?q={memory.pk}",
    }


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


def history_of(memory: Memory) -> list[LogLine]:
    """The last changes, the newest first; two queries."""
    # One more than is shown, so that the last one shown has something to be compared with.
    rows = list(
        MemoryLog.objects.filter(team_id=memory.team_id, memory_id=memory.pk).order_by("-seq")[
            : MAX_LOG + 1
        ]
    )
    names = _names_in(rows, memory)
    earlier = [*rows[1:], None]
    return [
        LogLine(
            entry,
            entry.event.replace("_", " "),
            _differences(before.state, entry.state, names) if before else [],
            [f"{link['type']} → {_name(link['to'], names)}" for link in _links(entry)],
        )
        for entry, before in zip(rows[:MAX_LOG], earlier, strict=False)
    ]


def _names_in(rows: Sequence[MemoryLog], memory: Memory) -> Names:
    """The first words of the memories that the rows name, by their ids."""
    ids = {link["to"] for row in rows for link in _links(row)}
    for row in rows:
        for column in _OTHERS:
            value = row.state.get(column)
            ids.update(value if isinstance(value, list) else [value] if value else [])
    if not ids:
        return {}
    others = Memory.objects.filter(team_id=memory.team_id, pk__in=ids)
    return {str(pk): text for pk, text in others.values_list("pk", "content")}


def _links(entry: MemoryLog) -> list[dict[str, str]]:
    links: list[dict[str, str]] = (entry.detail or {}).get("links", [])
    return links


def _name(memory_id: str, names: Names) -> str:
    text = names.get(memory_id)
    return f"“{excerpt(text, _NAME_CHARS)}”" if text else memory_id


def _differences(
    before: Mapping[str, object], after: Mapping[str, object], names: Names
) -> list[Difference]:
    return [
        Difference(
            column.removesuffix("_id") if column in _OTHERS else column,
            _shown(before.get(column), names),
            _shown(after.get(column), names),
        )
        for column in sorted({*before, *after})
        if before.get(column) != after.get(column)
    ]


def _shown(value: object, names: Names) -> str:
    if value in (None, "", [], {}):
        return NOTHING
    if isinstance(value, list):
        return ", ".join(_name(str(each), names) for each in value)
    return _name(str(value), names)
