"""Checkpoints and store items that a viewer may see."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from django.db import connection
from django.db.models import BooleanField, F, Func, OuterRef, Q, QuerySet, Subquery, Sum, Value
from django.db.models.expressions import RawSQL
from django.db.models.functions import Coalesce, Length

from memory.domain.audience import Viewer
from memory.models.querysets import narrowed_q
from memory.satellites.langgraph.models import GraphCheckpoint, PendingWrite, StoreItem

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


Items = QuerySet[StoreItem, StoreItem]
ANY_LABEL = "*"


class Comparison(StrEnum):
    """How a member of a value is compared; numbers with numbers and texts with texts."""

    EQ = "$eq"
    NE = "$ne"
    GT = "$gt"
    GTE = "$gte"
    LT = "$lt"
    LTE = "$lte"


@dataclass(frozen=True, slots=True)
class Search:
    """Which items: those under a namespace whose members compare so."""

    prefix: tuple[str, ...] = ()
    conditions: Sequence[tuple[str, Comparison, object]] = ()
    query: str = ""
    limit: int = 10
    offset: int = 0
    refreshes: bool = True


@dataclass(frozen=True, slots=True)
class Listing:
    """Which namespaces, cut to `max_depth` labels; "*" stands for any label."""

    prefix: tuple[str, ...] = ()
    suffix: tuple[str, ...] = ()
    max_depth: int | None = None
    limit: int = 100
    offset: int = 0


_SIGNS = {
    Comparison.GT: " > ",
    Comparison.GTE: " >= ",
    Comparison.LT: " < ",
    Comparison.LTE: " <= ",
}


def path_of(namespace: Sequence[str]) -> str:
    """As it is stored; labels have no dots."""
    return ".".join(namespace)


def items_for(*, viewer: Viewer, now: datetime) -> Items:
    """The items that the viewer may see and whose time is not over; call it in the team's scope."""
    seen = Q(team_id=viewer.team_id) & narrowed_q(viewer)
    if viewer.agent_id is not None:
        seen &= Q(agent_id=viewer.agent_id) | Q(agent_id__isnull=True)
    return StoreItem.objects.filter(seen, Q(expires_at__isnull=True) | Q(expires_at__gt=now))


def matching_items(rows: Items, search: Search) -> Items:
    """Those that the search is for, whatever its query."""
    if search.prefix:
        path = path_of(search.prefix)
        # "/" follows "." in the order of bytes.
        rows = rows.filter(Q(path=path) | Q(path__gte=f"{path}.", path__lt=f"{path}/"))
    for name, comparison, value in search.conditions:
        rows = rows.filter(_condition(name, comparison, value))
    return rows


def _condition(name: str, comparison: Comparison, value: object) -> Func:
    """A comparison of a member of the value as PostgreSQL compares JSON; none is no match but $ne.

    A whole object is equal to one that has its members at least.
    """
    member = Func(F("value"), Value(name), template="(%(expressions)s)", arg_joiner=" -> ")
    given = Func(Value(json.dumps(value)), template="%(expressions)s::jsonb")
    if comparison in (Comparison.EQ, Comparison.NE):
        sign = " @> " if isinstance(value, dict) else " = "
        holds = "IS TRUE" if comparison is Comparison.EQ else "IS NOT TRUE"
        return _test(member, given, sign=sign, holds=holds)
    one, other = (Func(each, function="jsonb_typeof") for each in (member, given))
    alike = _test(one, other, sign=" = ")
    return _test(alike, _test(member, given, sign=_SIGNS[comparison]), sign=" AND ")


def _test(one: Func, other: Func, *, sign: str, holds: str = "IS TRUE") -> Func:
    template = f"((%(expressions)s) {holds})"
    return Func(one, other, template=template, arg_joiner=sign, output_field=BooleanField())


def namespaces_of(rows: Items, listing: Listing) -> list[tuple[str, ...]]:
    """The namespaces in which items stand, each once, in their order."""
    for labels, pattern in (
        (listing.prefix, r"^{}(\.|$)"),
        (listing.suffix, r"(^|\.){}$"),
    ):
        if labels:
            parts = (r"[^.]+" if each == ANY_LABEL else re.escape(each) for each in labels)
            rows = rows.filter(path__regex=pattern.format(r"\.".join(parts)))
    depth = listing.max_depth
    cut = rows.order_by().annotate(
        cut=RawSQL(
            "array_to_string((string_to_array(memory_storeitem.path, '.'))[:%s], '.')",
            [depth or 1_000],
        )
    )
    found = cut.values_list("cut", flat=True).distinct().order_by("cut")
    return [
        tuple(path.split(".")) for path in found[listing.offset : listing.offset + listing.limit]
    ]
