"""The state of a team's memory at an instant, and the changes between two instants."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from django.db import connection
from django.db.models import Count, Max

from audit.models import LogCommit
from audit.selectors import Instant, instant_at
from memory.domain.audience import Viewer
from memory.models import Memory
from memory.models.querysets import MemoryQuerySet
from memory.selectors.filters import NOBODY
from memory.selectors.history.log import LogFilters, filtered_log
from memory.selectors.history.memory_history import as_of, tagged_q
from memory.selectors.memories import ALL, MemoryFilters, filtered_memories
from teams.errors import InvalidError
from teams.models import EndUser

_LOOKED_AT = 500
_LOOKED_AT_IN_HASTE = 200
_TOUCHED = """
SELECT DISTINCT entry.memory_id FROM audit_logcommit AS done
JOIN audit_memorylog AS entry ON entry.team_id = done.team_id AND entry.commit_id = done.id
WHERE done.team_id = %s AND done.position > %s AND done.position <= %s
    AND entry.detail IS NULL AND entry.memory_id < %s
ORDER BY entry.memory_id DESC LIMIT %s
"""
_AFTER_ALL = UUID(int=2**128 - 1)
_SHOWN_AS_THEY_ARE = (
    *(
        "memory_type",
        "form",
        "payload",
        "scope",
        "source",
        "category",
        "subject",
        "content",
        "tags",
    ),
    *("importance", "confidence", "corroboration", "is_pinned", "status", "tier", "version"),
)


class Kind(StrEnum):
    """A change of a memory between two instants, seen through a filter."""

    CREATED = "created"
    CHANGED = "changed"
    APPEARED = "appeared"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class State:
    """The memories of an instant, as a query."""

    instant: Instant
    memories: MemoryQuerySet


@dataclass(frozen=True, slots=True)
class Change:
    """A memory that differs, before and after; None if it is not there."""

    kind: Kind
    memory_id: UUID
    before: Memory | None
    after: Memory | None

    @property
    def fields(self) -> dict[str, tuple[object, object]]:
        """The differences, by the names of the API; empty unless it stood at both instants."""
        if self.before is None or self.after is None:
            return {}
        before, after = fields_of(self.before), fields_of(self.after)
        return {name: (before[name], after[name]) for name in after if before[name] != after[name]}


@dataclass(frozen=True, slots=True)
class Changes:
    """A page of changes, newest memory first; `next_after` continues it, None at the end."""

    start: Instant
    end: Instant
    changes: Sequence[Change]
    next_after: UUID | None


def state_at(*, viewer: Viewer, at: datetime | None, filters: MemoryFilters) -> State:
    """Returns the memories that the viewer would have been shown at `at` (now if None); in scope.

    Names of agents, people and projects are those of today. Raises InvalidError for a future time.
    """
    instant = instant_at(team_id=viewer.team_id, at=at)
    return State(instant, _past(viewer, instant, filters))


def commits_seen(*, viewer: Viewer, instant: Instant) -> tuple[int, datetime | None]:
    """Returns how many commits up to the instant the viewer may see, and the last; in scope."""
    if viewer.agent_id is None and not (viewer.allowed_categories or viewer.project_ids):
        return instant.position, instant.changed_at
    seen = filtered_log(viewer=viewer, filters=LogFilters()).filter(seq__lte=instant.last_seq)
    commits = LogCommit.objects.filter(
        team_id=instant.team_id, position__lte=instant.position, id__in=seen.values("commit_id")
    )
    counted = commits.aggregate(count=Count("id"), last=Max("at"))
    return counted["count"], counted["last"]


def changes_between(
    *,
    viewer: Viewer,
    at: datetime,
    to: datetime,
    filters: MemoryFilters,
    limit: int,
    after: UUID | None = None,
    is_patient: bool = True,
) -> Changes:
    """Returns up to `limit` memories that differ between two instants, of those after `after`.

    Unless `is_patient` it looks at 200 memories that were touched in between and no more: if few of
    them match, a page is short or empty and still has a `next_after`. A memory that came and went
    in between is in neither state and so not in the answer. Call it in the team's scope. Raises
    InvalidError for a future time and for times in the wrong order.
    """
    if to < at:
        raise InvalidError("Give a time that is not before `at`.", field="diff_to")
    end = instant_at(team_id=viewer.team_id, at=to, field="diff_to")
    start = instant_at(team_id=viewer.team_id, at=at)
    found: list[Change] = []
    at_once = _LOOKED_AT if is_patient else _LOOKED_AT_IN_HASTE
    while len(found) <= limit:
        touched = _touched(start, end, after or _AFTER_ALL, at_once)
        found += _differences(viewer, start, end, filters, touched)
        if len(touched) < at_once:
            break
        after = touched[-1]
        if not is_patient and len(found) <= limit:
            return Changes(start, end, found, after)
    page = found[:limit]
    return Changes(start, end, page, page[-1].memory_id if len(found) > limit else None)


def all_changes(
    *, viewer: Viewer, at: datetime, to: datetime, filters: MemoryFilters
) -> Iterator[Change]:
    """Yields every change between the two instants; as `changes_between` otherwise."""
    after: UUID | None = None
    while True:
        page = changes_between(
            viewer=viewer, at=at, to=to, filters=filters, limit=_LOOKED_AT, after=after
        )
        yield from page.changes
        after = page.next_after
        if after is None:
            return


def fields_of(memory: Memory) -> dict[str, object]:
    """Returns the shown fields of a memory that can change, by the names of the API."""
    return {
        **{name: getattr(memory, name) for name in _SHOWN_AS_THEY_ARE},
        "supersedes": memory.supersedes_id,
        "superseded_by": memory.superseded_by_id,
        "contradicts": memory.contradicts,
        "agent": memory.agent.slug if memory.agent else None,
        "user": memory.end_user.external_id if memory.end_user else None,
        "project": memory.project.slug if memory.project else None,
        "conversation": memory.conversation_id,
        "message_ids": memory.source_message_ids,
        "external_ids": memory.source_external_ids,
        "valid_from": memory.valid_from,
        "valid_to": memory.valid_to,
        "purge_at": memory.purge_at,
        "external_id": memory.external_id,
    }


def _past(viewer: Viewer, instant: Instant, filters: MemoryFilters) -> MemoryQuerySet:
    # The tags' rows are of today; the array is part of the state.
    rows = filtered_memories(viewer=viewer, filters=replace(filters, tag=()))
    if filters.tag:
        rows = rows.filter(tagged_q(filters.tag))
    person = None
    if filters.user is not None:
        known = EndUser.objects.filter(team_id=viewer.team_id, external_id=filters.user)
        person = known.values_list("id", flat=True).first() or NOBODY
    return as_of(rows.with_names(usage=False), instant, end_user_id=person)


def _touched(start: Instant, end: Instant, after: UUID, most: int) -> list[UUID]:
    with connection.cursor() as cursor:
        cursor.execute(_TOUCHED, [end.team_id, start.position, end.position, after, most])
        return [memory_id for (memory_id,) in cursor.fetchall()]


def _differences(
    viewer: Viewer,
    start: Instant,
    end: Instant,
    filters: MemoryFilters,
    touched: Sequence[UUID],
) -> Iterator[Change]:
    if not touched:
        return
    everything = MemoryFilters(status=(ALL,))
    before = _by_id(_past(viewer, start, everything), touched)
    after = _by_id(_past(viewer, end, everything), touched)
    matched_before = _ids(_past(viewer, start, filters), touched)
    matches_after = _ids(_past(viewer, end, filters), touched)
    for memory_id in touched:
        was, is_now = memory_id in matched_before, memory_id in matches_after
        if was and is_now:
            kind = Kind.CHANGED
        elif is_now:
            kind = Kind.APPEARED if memory_id in before else Kind.CREATED
        elif was:
            kind = Kind.GONE
        else:
            continue
        change = Change(kind, memory_id, before.get(memory_id), after.get(memory_id))
        if kind != Kind.CHANGED or change.fields:
            yield change


def _by_id(rows: MemoryQuerySet, ids: Iterable[UUID]) -> dict[UUID, Memory]:
    return {row.pk: row for row in rows.filter(pk__in=ids)}


def _ids(rows: MemoryQuerySet, ids: Iterable[UUID]) -> set[UUID]:
    return set(rows.filter(pk__in=ids).values_list("pk", flat=True))
