"""A memory's page: its sources, versions, disputes, relations, use and history."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from django.db.models import Q
from django.urls import reverse

from audit.admin.history import LINK_WORDS, LogLine, lines_of
from audit.models import MemoryLog
from memory.domain.differences import TextPart, phrase_parts
from memory.domain.forms import labelled
from memory.domain.judgements import MERGED
from memory.models import Contradiction, Memory, MemoryRelation
from memory.selectors.memories import Version, versions_of
from teams.admin.conversations import passages_of
from teams.admin.display import actor_words

from .charts import Chart, Line
from .contradictions import ContradictionItem
from .memory_list import owners_of, source_words, status_words, usage_of

_MOST_VERSIONS = 20
_MOST_RELATIONS = 20
_MOST_NEIGHBOURS = 12
_MOST_DISPUTES = 20
_MOST_SOURCES = 10
_MOST_CHANGES = 50
_DAYS = 30
_INWARD = {
    "related_to": "related to",
    "supersedes": "replaced by",
    "contradicts": "contradicts",
    "merged_from": "merged into",
    "derived_from": "source of",
}
# Kinds of neighbours that the memory came from.
_EARLIER = {"replaces", "merged from", "derived from"}


@dataclass(frozen=True, slots=True)
class Dispute:
    """A contradiction, seen from one side; without an other one somebody said it is wrong."""

    contradiction: Contradiction
    other: Memory | None

    @property
    def resolution(self) -> str:
        return ContradictionItem(self.contradiction).words()[0]

    @property
    def by(self) -> str:
        return actor_words(self.contradiction.resolved_by)


@dataclass(frozen=True, slots=True)
class ShownVersion:
    """A version with its place in the chain and its differences from the one before."""

    number: int
    memory: Memory
    parts: Sequence[TextPart]
    is_this: bool
    is_current: bool

    @property
    def status(self) -> str:
        return status_words(self.memory.status)

    @property
    def by(self) -> str:
        return actor_words(self.memory.actor)


@dataclass(frozen=True, slots=True)
class Neighbour:
    """Another memory and how this one relates to it, such as "replaced by"."""

    memory: Memory
    kind: str


def memory_page(*, memory: Memory, now: datetime) -> dict[str, Any]:  # Any: a template's context
    """Returns what other tables hold about a memory; a fixed number of queries."""
    versions = versions_of(memory, most=_MOST_VERSIONS)
    disputes = _disputes(memory)
    usage = usage_of(memory)
    sources = memory.source_message_ids
    shown = _shown(versions, memory)
    wanted = {memory.pk: sources[-_MOST_SOURCES:]}
    return {
        "memory": memory,
        "facts": [fact for fact in _facts(memory) if fact[1] not in (None, "")],
        "payload": labelled(memory.payload) if memory.form else [*memory.payload.items()],
        "status": status_words(memory.status),
        "passages": passages_of(wanted, team_id=memory.team_id)[memory.pk],
        "sources_left_out": max(len(sources) - _MOST_SOURCES, 0),
        "versions": shown if len(shown) > 1 else [],
        "number": next((each.number for each in shown if each.is_this), 1),
        "current": next((each for each in shown if each.is_current and not each.is_this), None),
        "disputes": disputes,
        "related": related_to(memory, _neighbours(memory, versions, disputes)),
        "usage": usage,
        "use": use_by_day(usage.daily, today=now.astimezone(UTC).date()) if usage else None,
        "log": history_of(memory),
        "log_url": f"{reverse('admin:audit_memorylog_changelist')}?q={memory.pk}",
    }


def history_of(memory: Memory) -> list[LogLine]:
    """The last changes in words, the newest first; two queries and one for each owner changed."""
    rows = MemoryLog.objects.filter(team_id=memory.team_id, memory_id=memory.pk).order_by("-seq")
    # One more than is shown, so that the last one shown has something to be compared with.
    return lines_of(list(rows[: _MOST_CHANGES + 1]), most=_MOST_CHANGES)


def use_by_day(daily: Mapping[str, int], *, today: date) -> dict[str, Any] | None:
    """Returns a chart of the last 30 days in UTC with its sum and highest day; None without use."""
    days = [(today - timedelta(days=back)).isoformat() for back in range(_DAYS - 1, -1, -1)]
    counts = [int(daily.get(day, 0)) for day in days]
    if not any(counts):
        return None
    line = Line("retrieved", counts, f"{sum(counts):,}")
    chart = Chart("Retrieved by day", "bar", [line], days)
    return {"chart": chart, "total": sum(counts), "most": max(counts)}


def related_to(memory: Memory, neighbours: Iterable[Neighbour]) -> dict[str, Any] | None:
    """Returns the neighbours, each once, those it came from apart from the rest; None without any.

    At most 12 are shown; `left_out` counts the others.
    """
    by_id: dict[object, Neighbour] = {}
    for each in neighbours:
        if each.memory.pk != memory.pk:
            by_id.setdefault(each.memory.pk, each)
    shown = list(by_id.values())[:_MOST_NEIGHBOURS]
    if not shown:
        return None
    return {
        "earlier": [each for each in shown if each.kind in _EARLIER],
        "later": [each for each in shown if each.kind not in _EARLIER],
        "left_out": len(by_id) - len(shown),
    }


def _facts(memory: Memory) -> list[tuple[str, object]]:
    said_again = memory.corroboration
    return [
        ("Owner", owners_of(memory)),
        ("Type", memory.memory_type.replace("_", " ")),
        ("Source", source_words(memory)),
        ("Tier", memory.tier),
        ("Importance", f"{memory.importance} of 10"),
        ("Confidence", f"{memory.confidence:.0%}"),
        ("Repeated", "once" if said_again == 1 else f"{said_again} times" if said_again else ""),
        ("Subject", memory.subject),
        ("Category", memory.category),
        ("Tags", ", ".join(memory.tags)),
        ("Form", memory.form.replace("_", " ")),
        ("Valid from", memory.valid_from),
        ("Valid until", memory.valid_to),
        ("Purged on", memory.purge_at),
        ("Stored", memory.created_at),
        ("By", actor_words(memory.actor)),
        ("Extractor", memory.extractor),
        ("External id", memory.external_id),
        ("Id", str(memory.pk)),
    ]


def _shown(versions: Sequence[Version], memory: Memory) -> list[ShownVersion]:
    shown: list[ShownVersion] = []
    for version in versions:
        text = version.memory.content
        parts = phrase_parts(shown[-1].memory.content if shown else text, text)
        is_this, is_last = version.memory.pk == memory.pk, version is versions[-1]
        shown.append(ShownVersion(version.number, version.memory, parts, is_this, is_last))
    return shown


def _disputes(memory: Memory) -> list[Dispute]:
    of_it = Q(memory_a=memory) | Q(memory_b=memory)
    if memory.extractor == "merged":
        # The text that replaced both sides is none of them.
        sides = MemoryRelation.objects.filter(
            team_id=memory.team_id, from_memory=memory, relation_type="merged_from"
        ).values_list("to_memory_id", flat=True)
        of_it |= Q(memory_a__in=[*sides], resolution=MERGED)
    rows = (
        Contradiction.objects.filter(of_it, team_id=memory.team_id)
        .select_related("memory_a", "memory_b")
        .order_by("-detected_at")[:_MOST_DISPUTES]
    )
    return [
        Dispute(row, row.memory_b if row.memory_a_id == memory.pk else row.memory_a) for row in rows
    ]


def _neighbours(
    memory: Memory, versions: Sequence[Version], disputes: Sequence[Dispute]
) -> Iterable[Neighbour]:
    """The versions before and after it, then what it contradicts, then its links."""
    for version in versions:
        if version.memory.superseded_by_id == memory.pk:
            yield Neighbour(version.memory, "replaces")
        elif version.memory.pk == memory.superseded_by_id:
            yield Neighbour(version.memory, "replaced by")
    for dispute in disputes:
        if dispute.other is not None:
            is_open = dispute.contradiction.resolved_at is None
            yield Neighbour(dispute.other, "contradicts" if is_open else "contradicted (settled)")
    edges = (
        MemoryRelation.objects.filter(
            Q(from_memory=memory) | Q(to_memory=memory), team_id=memory.team_id
        )
        .select_related("from_memory", "to_memory")
        .order_by("-strength", "id")[:_MOST_RELATIONS]
    )
    for edge in edges:
        is_outward = edge.from_memory_id == memory.pk
        kind = (LINK_WORDS if is_outward else _INWARD).get(edge.relation_type, edge.relation_type)
        yield Neighbour(edge.to_memory if is_outward else edge.from_memory, kind)
