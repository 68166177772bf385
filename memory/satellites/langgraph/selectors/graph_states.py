"""Saved states of graphs as they are read: checkpoints with their values and pending writes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import connection
from django.db.models import OuterRef, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce, Length

from memory.domain.audience import Viewer
from memory.satellites.langgraph.models import GraphCheckpoint, PendingWrite

_VALUES = """
SELECT c.id, v.channel, v.kind, v.value
FROM memory_graphcheckpoint c
CROSS JOIN LATERAL jsonb_each_text(c.channels) AS wanted (channel, version)
JOIN memory_channelvalue v ON v.team_id = c.team_id AND v.thread_id = c.thread_id
    AND v.namespace = c.namespace AND v.channel = wanted.channel AND v.version = wanted.version
WHERE c.team_id = %s AND c.id = ANY(%s)
"""
_WRITES = """
SELECT c.id, w.task_id, w.task_path, w.index, w.channel, w.kind, w.value
FROM memory_graphcheckpoint c
JOIN memory_pendingwrite w ON w.team_id = c.team_id AND w.thread_id = c.thread_id
    AND w.namespace = c.namespace AND w.checkpoint_id = c.checkpoint_id
WHERE c.team_id = %s AND c.id = ANY(%s)
ORDER BY c.id, w.task_path, w.task_id, w.index
"""


@dataclass(frozen=True, slots=True)
class StoredValue:
    """What a channel holds, as the client encoded it."""

    channel: str
    kind: str
    value: bytes


@dataclass(frozen=True, slots=True)
class StoredWrite:
    """What a task wrote, as the client encoded it."""

    task_id: str
    task_path: str
    index: int
    channel: str
    kind: str
    value: bytes


@dataclass(frozen=True, slots=True)
class Contents:
    """Checkpoints that still stand, with values and writes by their row ids; writes in order."""

    rows: Sequence[GraphCheckpoint]
    values: Mapping[UUID, Sequence[StoredValue]]
    writes: Mapping[UUID, Sequence[StoredWrite]]


def checkpoints_of(
    *,
    viewer: Viewer,
    thread_id: str | None = None,
    namespace: str | None = None,
    checkpoint_id: str | None = None,
    before: str | None = None,
    metadata: Mapping[str, object] | None = None,
) -> QuerySet[GraphCheckpoint, GraphCheckpoint]:
    """The checkpoints of the viewer's agent, or of the team itself, of which all that is given
    holds: ids less than `before`, and metadata that contain those. They come without data and
    metadata, and with `write_bytes`, what their writes have. Call it in the team's scope."""
    rows = GraphCheckpoint.objects.filter(team_id=viewer.team_id, thread__agent=viewer.agent_id)
    if viewer.names_nobody and thread_id is None:
        rows = rows.filter(thread__end_user__isnull=True)
    named = {
        "thread__thread_id": thread_id,
        "namespace": namespace,
        "checkpoint_id": checkpoint_id,
        "checkpoint_id__lt": before,
        "metadata__contains": metadata,
    }
    given = {name: value for name, value in named.items() if value is not None}
    writes = PendingWrite.objects.filter(
        team_id=OuterRef("team_id"),
        thread_id=OuterRef("thread_id"),
        namespace=OuterRef("namespace"),
        checkpoint_id=OuterRef("checkpoint_id"),
    ).order_by()
    size = writes.values("checkpoint_id").annotate(size=Sum(Length("value"))).values("size")
    rows = rows.filter(**given).annotate(write_bytes=Coalesce(Subquery(size), 0))
    return rows.defer("data", "metadata").select_related("thread__agent", "thread__end_user")


def contents_of(*, viewer: Viewer, rows: Sequence[GraphCheckpoint]) -> Contents:
    """What hangs on these checkpoints, whose data and metadata are read as well.

    Call it in the team's scope.
    """
    stored = GraphCheckpoint.objects.filter(
        team_id=viewer.team_id, pk__in=[row.pk for row in rows]
    ).values_list("pk", "data", "metadata")
    texts = {pk: (data, metadata) for pk, data, metadata in stored}
    for row in rows:
        if row.pk in texts:
            row.data, row.metadata = texts[row.pk]
    values: dict[UUID, list[StoredValue]] = defaultdict(list)
    writes: dict[UUID, list[StoredWrite]] = defaultdict(list)
    given = (viewer.team_id, [row.pk for row in rows])
    with connection.cursor() as cursor:
        cursor.execute(_VALUES, given)
        for row_id, channel, kind, value in cursor.fetchall():
            values[row_id].append(StoredValue(channel, kind, bytes(value)))
        cursor.execute(_WRITES, given)
        for row_id, task_id, path, index, channel, kind, value in cursor.fetchall():
            write = StoredWrite(task_id, path, index, channel, kind, bytes(value))
            writes[row_id].append(write)
    return Contents([row for row in rows if row.pk in texts], values, writes)
