"""What a memory's page shows beside the row itself: where it came from and what became of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.db.models import Q
from django.urls import reverse

from audit.admin.change_words import LINK_WORDS
from audit.admin.history import LogLine, lines_of
from audit.models import MemoryLog
from memory.domain.differences import TextPart, phrase_parts
from memory.domain.forms import labelled
from memory.domain.judgements import MERGED
from memory.models import Contradiction, Memory, MemoryRelation
from memory.selectors.versions import Version, versions_of
from teams.admin.display import actor_words, page_of

from .memory_words import status_words, type_words, usage_of, whose
from .passages import passages_of
from .relation_picture import Neighbour, picture_of
from .sides import resolution_words
from .usage_chart import chart_of

MAX_VERSIONS = 20
MAX_RELATIONS = 20
MAX_DISPUTES = 20
MAX_SOURCES = 10
MAX_LOG = 50
_INWARD = {
    "related_to": "related to",
    "supersedes": "replaced by",
    "contradicts": "contradicts",
    "merged_from": "merged into",
    "derived_from": "source of",
}


@dataclass(frozen=True, slots=True)
class Dispute:
    """A contradiction, seen from one side; without an other one somebody said it is wrong."""

    contradiction: Contradiction
    other: Memory | None

    @property
    def resolution(self) -> str:
        """How it was settled, in words, or that it is open."""
        return resolution_words(self.contradiction)

    @property
    def by(self) -> str:
        """Who settled it."""
        return actor_words(self.contradiction.resolved_by)


@dataclass(frozen=True, slots=True)
class ShownVersion:
    """A version with what differs from the one before it, the place it has, and its page."""

    number: int
    memory: Memory
    parts: Sequence[TextPart]
    is_this: bool
    is_current: bool
    url: str

    @property
    def status(self) -> str:
        """How it stands, in words."""
        return status_words(self.memory.status)

    @property
    def by(self) -> str:
        """Who wrote it."""
        return actor_words(self.memory.actor)


def memory_page(*, memory: Memory, now: datetime) -> dict[str, Any]:  # Any: a template's context
    """What stands of a memory in other tables; a fixed number of queries."""
    versions = versions_of(memory, most=MAX_VERSIONS)
    disputes = _disputes(memory)
    usage = usage_of(memory)
    sources = memory.source_message_ids
    shown = _shown(versions, memory)
    return {
        "memory": memory,
        "facts": list(_facts(memory)),
        "payload": labelled(memory.payload) if memory.form else [*memory.payload.items()],
        "status": status_words(memory.status),
        "passages": passages_of(sources[-MAX_SOURCES:], team_id=memory.team_id),
        "sources_left_out": max(len(sources) - MAX_SOURCES, 0),
        "versions": shown if len(shown) > 1 else [],
        "number": next((each.number for each in shown if each.is_this), 1),
        "current": next((each for each in shown if each.is_current and not each.is_this), None),
        "disputes": disputes,
        "picture": picture_of(memory, _neighbours(memory, versions, disputes)),
        "usage": usage,
        "chart": chart_of(usage.daily, today=now.astimezone(UTC).date()) if usage else None,
        "log": history_of(memory),
        "log_url": f"{reverse('admin:audit_memorylog_changelist')}?q={memory.pk}",
    }


def history_of(memory: Memory) -> list[LogLine]:
    """The last changes in words, the newest first; two queries and one for each owner changed."""
    rows = MemoryLog.objects.filter(team_id=memory.team_id, memory_id=memory.pk).order_by("-seq")
    # One more than is shown, so that the last one shown has something to be compared with.
    return lines_of(list(rows[: MAX_LOG + 1]), most=MAX_LOG)


def _facts(memory: Memory) -> Iterable[tuple[str, object]]:
    """What else is known of it, without what is empty."""
    said_again = memory.corroboration
    facts: list[tuple[str, object]] = [
        ("Whose", whose(memory)),
        ("Type", type_words(memory.memory_type)),
        ("Tier", memory.tier),
        ("Importance", f"{memory.importance} of 10"),
        ("Confidence", f"{memory.confidence:.0%}"),
        ("Said again", "once" if said_again == 1 else f"{said_again} times" if said_again else ""),
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
        ("External id", memory.external_id or ""),
        ("Id", str(memory.pk)),
    ]
    return (fact for fact in facts if fact[1] not in (None, ""))


def _shown(versions: Sequence[Version], memory: Memory) -> list[ShownVersion]:
    shown = []
    for number, version in enumerate(versions):
        text = version.memory.content
        before = versions[number - 1].memory.content if number else text
        shown.append(
            ShownVersion(
                version.number,
                version.memory,
                phrase_parts(before, text),
                version.memory.pk == memory.pk,
                number == len(versions) - 1,
                page_of("memory_memory", version.memory.pk),
            )
        )
    return shown


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


def _neighbours(
    memory: Memory, versions: Sequence[Version], disputes: Sequence[Dispute]
) -> Iterable[Neighbour]:
    """Those that replaced it or were replaced by it, then what it contradicts, then its links."""
    for version in versions:
        if version.memory.superseded_by_id == memory.pk:
            yield Neighbour(version.memory, "replaces")
        elif version.memory.pk == memory.superseded_by_id:
            yield Neighbour(version.memory, "replaced by")
    for dispute in disputes:
        if dispute.other is not None:
            is_open = dispute.contradiction.resolved_at is None
            yield Neighbour(dispute.other, "contradicts" if is_open else "contradicted once")
    edges = (
        MemoryRelation.objects.filter(
            Q(from_memory=memory) | Q(to_memory=memory), team_id=memory.team_id
        )
        .select_related("from_memory", "to_memory")
        .order_by("-strength", "id")[:MAX_RELATIONS]
    )
    for edge in edges:
        if edge.from_memory_id == memory.pk:
            kind = LINK_WORDS.get(edge.relation_type, edge.relation_type)
            yield Neighbour(edge.to_memory, kind)
        else:
            kind = _INWARD.get(edge.relation_type, edge.relation_type)
            yield Neighbour(edge.from_memory, kind)
