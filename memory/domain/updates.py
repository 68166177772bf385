"""Renders the changes of a thread's memories since its agent's last update (seed 004 §1)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from uuid import UUID

from memory.domain.rendering import Quote, TokenCounter, beginning, escaped_line, plain_line
from memory.domain.types import Status

NEWS = "Memory updates since rev"
MAX_BULLETS = 3
HEADER_TOKENS = 60
# A text of fewer characters says nothing: rather fewer bullets.
_SHORTEST = 12
_LONGEST = 200


class Kind(StrEnum):
    """The kind of a change, as it is rendered."""

    CREATED = "+created"
    UPDATED = "↑updated"
    MERGED = "↔merged"
    DELETED = "−deleted"
    RESTORED = "↺restored"


# Events of the log that begin a memory, and how it is told while it stands.
_BIRTHS = {
    "created": Kind.CREATED,
    "versioned": Kind.UPDATED,
    "corrected": Kind.UPDATED,
    "merged": Kind.MERGED,
}
_GONE = ("soft_deleted", "archived")
_CHANGES = ("updated", "pinned", "unpinned", "contradiction_detected", "contradiction_resolved")
# What moves a memory between tiers, repeats, links or sums up is no news to who reads it.
TOLD_EVENTS = (*_BIRTHS, *_GONE, *_CHANGES, "superseded", "restored")


@dataclass(frozen=True, slots=True)
class Happened:
    memory_id: UUID
    event: str
    revision: int


@dataclass(frozen=True, slots=True)
class Known:
    """A memory as it stands; `quote` says whose sentence the content is, if it is one."""

    memory_id: UUID
    content: str
    label: str
    importance: int
    status: str
    superseded_by: UUID | None = None
    quote: Quote | None = None

    def told(self, *, longest: int) -> str:
        """The beginning of its text on one line."""
        text = beginning(self.content, longest=longest)
        return self.quote.render(text) if self.quote else escaped_line(text)


@dataclass(frozen=True, slots=True)
class Update:
    """The net change of a memory; for a superseded memory, that of its successor."""

    kind: Kind
    memory: Known
    revision: int


def updates_of(happened: Iterable[Happened], known: Mapping[UUID, Known]) -> list[Update]:
    """One update for each `known` memory with news, best first; `happened` is by revision."""
    rows: dict[UUID, list[Happened]] = {}
    for each in happened:
        rows.setdefault(each.memory_id, []).append(each)
    found: dict[UUID, Update] = {}
    for memory_id, changes in rows.items():
        memory = known.get(memory_id)
        if memory is None:
            continue
        events = [each.event for each in changes]
        kind = _kind(memory, events)
        if memory.status == Status.SUPERSEDED:
            successor = known.get(memory.superseded_by) if memory.superseded_by else None
            if kind is None or successor is None or successor.memory_id in rows:
                # The successor's own changes tell of it.
                continue
            memory = successor
        if kind is not None:
            found.setdefault(memory.memory_id, Update(kind, memory, changes[-1].revision))
    return sorted(found.values(), key=lambda each: (-each.memory.importance, -each.revision))


def header(updates: Sequence[Update], *, since: int, counter: TokenCounter) -> str:
    """The lines at the head of a prompt, of about HEADER_TOKENS; "" where there is no update."""
    for count in range(min(MAX_BULLETS, len(updates)), 0, -1):
        told = partial(_written, updates[:count], since)
        lengths = range(_SHORTEST, _LONGEST + 1)
        fitting = bisect_right(lengths, HEADER_TOKENS, key=lambda each: counter.count(told(each)))
        if fitting or count == 1:
            return told(lengths[max(0, fitting - 1)])
    return ""


def _kind(memory: Known, events: Sequence[str]) -> Kind | None:
    birth = _BIRTHS.get(events[0])
    if memory.status in _GONE:
        return Kind.DELETED if birth is None and set(events) & set(_GONE) else None
    if memory.status == Status.SUPERSEDED:
        return Kind.UPDATED if birth is None and "superseded" in events else None
    if birth is not None:
        return birth
    if "restored" in events and not set(events[: events.index("restored")]) & set(_GONE):
        return Kind.RESTORED
    return Kind.UPDATED if set(events) & set(_CHANGES) else None


def _written(updates: Sequence[Update], since: int, longest: int) -> str:
    bullets = [
        f"- {each.kind.value}: [{_label(each.memory.label)}] {each.memory.told(longest=longest)}"
        for each in updates
    ]
    return "\n".join([f"{NEWS} {since}:", *bullets])


def _label(label: str) -> str:
    return escaped_line(plain_line(label).replace("[", "").replace("]", ""))[:40]
