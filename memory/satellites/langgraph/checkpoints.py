"""States of graphs: saved step by step with the writes of tasks, read, copied and deleted."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from django.conf import settings
from django.db import connection
from django.db.models import Count, F, OuterRef, Q, QuerySet, Subquery, Sum, Window
from django.db.models.functions import Coalesce, Length, RowNumber

from memory.domain.audience import Viewer
from memory.satellites.langgraph.models import (
    ChannelValue,
    GraphCheckpoint,
    GraphThread,
    PendingWrite,
)
from memory.writing.background import retried
from teams.errors import ConflictError, InvalidError, NotFoundError, TooLargeError
from teams.services.checkpoints import check_size, checkpoint_text
from teams.services.people import ensure_agent, ensure_end_user_id
from teams.tenancy import team_scope

# After one checkpoint, of all its tasks.
MAX_WRITES = 10_000


class Keep(StrEnum):
    """The rest of a thread after pruning: the last checkpoint of each namespace, or nothing."""

    LATEST = "latest"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoded:
    """The value of a channel: bytes, and how the client encoded them."""

    channel: str
    kind: str
    value: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Write(Encoded):
    """A task's write at its `index`, which is negative for those that stand apart."""

    index: int
    task_id: str = ""
    task_path: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewCheckpoint:
    """A state to save; `values` are those of its `channels` that are not stored yet.

    A channel without a value is as its parent has it at the same version.
    `needs_ancestors`: it can only be read together with those before it.
    """

    checkpoint_id: str
    namespace: str
    parent_id: str
    data: Mapping[str, object]
    metadata: Mapping[str, object]
    channels: Mapping[str, str]
    values: Sequence[Encoded] = ()
    needs_ancestors: bool = False


@dataclass(frozen=True, slots=True)
class LoadedCheckpoint:
    """A stored checkpoint with its values and, in order, the writes after it."""

    row: GraphCheckpoint
    values: Sequence[Encoded]
    writes: Sequence[Write]


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
_UNUSED_VALUES = """
WITH used AS MATERIALIZED (
    SELECT DISTINCT c.thread_id, c.namespace, e.key AS channel, e.value AS version
    FROM memory_graphcheckpoint c CROSS JOIN LATERAL jsonb_each_text(c.channels) AS e
    WHERE c.team_id = %(team)s AND c.thread_id = ANY(%(threads)s)
)
DELETE FROM memory_channelvalue v
WHERE v.team_id = %(team)s AND v.thread_id = ANY(%(threads)s) AND NOT EXISTS (
    SELECT FROM used u
    WHERE u.thread_id = v.thread_id AND u.namespace = v.namespace AND u.channel = v.channel
        AND u.version = v.version
)
"""
_LOST_PARENTS = """
UPDATE memory_graphcheckpoint c SET parent_id = ''
WHERE c.team_id = %(team)s AND c.thread_id = ANY(%(threads)s) AND c.parent_id <> ''
    AND NOT EXISTS (
        SELECT FROM memory_graphcheckpoint p
        WHERE p.team_id = c.team_id AND p.thread_id = c.thread_id AND p.namespace = c.namespace
            AND p.checkpoint_id = c.parent_id
    )
"""
_DELETE = """
WITH gone AS (
    DELETE FROM memory_graphcheckpoint c
    WHERE c.team_id = %(team)s AND c.id = ANY(%(ids)s)
    RETURNING c.thread_id, c.namespace, c.checkpoint_id
)
DELETE FROM memory_pendingwrite w USING gone g
WHERE w.team_id = %(team)s AND w.thread_id = g.thread_id AND w.namespace = g.namespace
    AND w.checkpoint_id = g.checkpoint_id
"""
_COPIED = (GraphCheckpoint, ChannelValue, PendingWrite)


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


def loaded(*, viewer: Viewer, rows: Sequence[GraphCheckpoint]) -> list[LoadedCheckpoint]:
    """The checkpoints that still stand, with data, metadata, values and writes.

    Call it in the team's scope.
    """
    ids = [row.pk for row in rows]
    stored = GraphCheckpoint.objects.filter(team_id=viewer.team_id, pk__in=ids)
    texts = {row.pk: row for row in stored.only("data", "metadata")}
    values: dict[UUID, list[Encoded]] = defaultdict(list)
    writes: dict[UUID, list[Write]] = defaultdict(list)
    with connection.cursor() as cursor:
        cursor.execute(_VALUES, [viewer.team_id, ids])
        for row_id, channel, kind, value in cursor.fetchall():
            values[row_id].append(Encoded(channel=channel, kind=kind, value=bytes(value)))
        cursor.execute(_WRITES, [viewer.team_id, ids])
        for row_id, task_id, path, index, channel, kind, value in cursor.fetchall():
            write = Write(
                task_id=task_id,
                task_path=path,
                index=index,
                channel=channel,
                kind=kind,
                value=bytes(value),
            )
            writes[row_id].append(write)
    found = []
    for row in rows:
        if row.pk in texts:
            row.data, row.metadata = texts[row.pk].data, texts[row.pk].metadata
            found.append(LoadedCheckpoint(row, values[row.pk], writes[row.pk]))
    return found


@retried
def save_checkpoint(
    *,
    viewer: Viewer,
    thread_id: str,
    agent: str | None,
    user: str | None,
    checkpoint: NewCheckpoint,
    now: datetime,
) -> None:
    """Save a state of a thread; the same id again replaces what it was saved with.

    Agent, user and thread are created when first named. Raises ConflictError, which names the
    channels, where values are neither given nor stored, or stored as others; and where the thread
    is another user's. Raises TooLargeError where all values have more than `most_state_bytes`,
    else what `checkpoint_text` raises.
    """
    text = checkpoint_text(checkpoint.data)
    metadata = checkpoint_text(checkpoint.metadata, field="metadata")
    size = len(text.encode()) + sum(len(each.value) for each in checkpoint.values)
    check_size(size, field="values")
    size += len(metadata.encode())
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        thread = _locked(viewer=viewer, thread_id=thread_id, agent=agent, user=user)
        checkpoint = replace(checkpoint, channels=_inherited(thread, checkpoint))
        known = _sizes(thread, checkpoint)
        wanted = {*checkpoint.channels.items()}
        given = {(each.channel, checkpoint.channels[each.channel]) for each in checkpoint.values}
        if missing := sorted(name for name, _ in wanted - given - known.keys()):
            raise ConflictError(
                f"The values of {', '.join(missing[:10])} are not stored: send them as well.",
                field="values",
            )
        size += sum(known[each] for each in wanted - given)
        if size > most_state_bytes():
            raise TooLargeError(
                f"The values of a checkpoint have at most {most_state_bytes()} bytes together, and"
                f" these have {size}. Keep what is large elsewhere and its address here.",
                field="values",
            )
        _keep_values(thread, checkpoint, known)
        run_id = checkpoint.metadata.get("run_id")
        row = GraphCheckpoint(
            team_id=viewer.team_id,
            thread=thread,
            namespace=checkpoint.namespace,
            checkpoint_id=checkpoint.checkpoint_id,
            parent_id=checkpoint.parent_id,
            run_id=run_id[:200] if isinstance(run_id, str) else "",
            channels=dict(checkpoint.channels),
            metadata=dict(checkpoint.metadata),
            data=text,
            size=size,
            needs_ancestors=checkpoint.needs_ancestors,
            saved_at=now,
        )
        GraphCheckpoint.objects.bulk_create(
            [row],
            update_conflicts=True,
            unique_fields=["team", "thread", "namespace", "checkpoint_id"],
            update_fields=[
                "parent_id",
                "channels",
                "metadata",
                "data",
                "size",
                "run_id",
                "needs_ancestors",
            ],
        )


def most_state_bytes() -> int:
    """The bytes that a checkpoint may have with all its values, and those of its writes."""
    return 16 * settings.CHECKPOINT_MAX_BYTES


def _inherited(thread: GraphThread, checkpoint: NewCheckpoint) -> Mapping[str, str]:
    """Returns the channels, each without a value as the parent has it at the same version.

    What the parent stores for such a channel may be a value of its own: then its `data` tells the
    version, as LangGraph names it.
    """
    channels = checkpoint.channels
    unsent = channels.keys() - {each.channel for each in checkpoint.values}
    rows = GraphCheckpoint.objects.filter(
        team_id=thread.team_id,
        thread=thread,
        namespace=checkpoint.namespace,
        checkpoint_id=checkpoint.parent_id,
    )
    parent = rows.only("channels").first() if unsent and checkpoint.parent_id else None
    if parent is None or all(parent.channels.get(name) == channels[name] for name in unsent):
        return channels
    versions = json.loads(parent.data).get("channel_versions")
    if not isinstance(versions, dict):
        return channels
    same = {
        name: version
        for name, version in parent.channels.items()
        if name in unsent and str(versions.get(name)) == channels[name]
    }
    return {**channels, **same}


def _keep_values(
    thread: GraphThread, checkpoint: NewCheckpoint, known: Mapping[tuple[str, str], int]
) -> None:
    """Store the given values; ConflictError where another one is stored at a channel's version.

    A value at the version that is the checkpoint's id is its own, and is replaced.
    """
    own: list[ChannelValue] = []
    shared: list[ChannelValue] = []
    for each in checkpoint.values:
        row = ChannelValue(
            team_id=thread.team_id,
            thread=thread,
            namespace=checkpoint.namespace,
            channel=each.channel,
            version=checkpoint.channels[each.channel],
            kind=each.kind,
            value=each.value,
        )
        (own if row.version == checkpoint.checkpoint_id else shared).append(row)
    before = [row for row in shared if (row.channel, row.version) in known]
    # Together no larger than what is given, as others differ by their sizes.
    alike = Q(pk__in=[])
    for row in before:
        if known[row.channel, row.version] == len(row.value):
            alike |= Q(channel=row.channel, version=row.version)
    stored = {
        (row.channel, row.version): (row.kind, bytes(row.value))
        for row in ChannelValue.objects.filter(
            alike, team_id=thread.team_id, thread=thread, namespace=checkpoint.namespace
        )
    }
    if others := sorted(
        row.channel
        for row in before
        if stored.get((row.channel, row.version)) != (row.kind, row.value)
    ):
        raise ConflictError(
            f"Other values of {', '.join(others[:10])} are stored at these versions: give each"
            " value a version of its own.",
            field="channels",
        )
    ChannelValue.objects.bulk_create(shared, ignore_conflicts=True)
    ChannelValue.objects.bulk_create(
        own,
        update_conflicts=True,
        unique_fields=["team", "thread", "namespace", "channel", "version"],
        update_fields=["kind", "value"],
    )


def _sizes(thread: GraphThread, checkpoint: NewCheckpoint) -> dict[tuple[str, str], int]:
    rows = ChannelValue.objects.filter(
        team_id=thread.team_id,
        thread=thread,
        namespace=checkpoint.namespace,
        channel__in=list(checkpoint.channels),
        version__in=set(checkpoint.channels.values()),
    )
    found = rows.annotate(size=Length("value")).values_list("channel", "version", "size")
    return {(channel, version): size for channel, version, size in found}


@retried
def save_writes(
    *,
    viewer: Viewer,
    thread_id: str,
    agent: str | None = None,
    user: str | None = None,
    namespace: str,
    checkpoint_id: str,
    task_id: str,
    task_path: str,
    writes: Sequence[Write],
    replaces: bool,
) -> None:
    """Keep what a task wrote after a checkpoint, which may be saved later.

    Of writes that are stored at an index the first stays, or with `replaces` the last. Raises
    TooLargeError where the writes after the checkpoint are more than MAX_WRITES, or have more than
    `most_state_bytes`.
    """
    check_size(sum(len(each.value) for each in writes), field="writes")
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        thread = _locked(viewer=viewer, thread_id=thread_id, agent=agent, user=user)
        rows = {
            each.index: PendingWrite(
                team_id=viewer.team_id,
                thread=thread,
                namespace=namespace,
                checkpoint_id=checkpoint_id,
                task_id=task_id,
                task_path=task_path,
                index=each.index,
                channel=each.channel,
                kind=each.kind,
                value=each.value,
            )
            for each in writes
        }
        key = ["team", "thread", "namespace", "checkpoint_id", "task_id", "index"]
        changed = ["channel", "kind", "value"]
        PendingWrite.objects.bulk_create(
            rows.values(),
            ignore_conflicts=not replaces,
            update_conflicts=replaces,
            unique_fields=key if replaces else None,
            update_fields=changed if replaces else None,
        )
        kept = PendingWrite.objects.filter(
            team_id=viewer.team_id, thread=thread, namespace=namespace, checkpoint_id=checkpoint_id
        ).aggregate(count=Count("id"), size=Sum(Length("value")))
        if kept["count"] > MAX_WRITES or (kept["size"] or 0) > most_state_bytes():
            raise TooLargeError(
                f"The writes after a checkpoint are at most {MAX_WRITES} of {most_state_bytes()}"
                " bytes together: save the next checkpoint.",
                field="writes",
            )


def _locked(*, viewer: Viewer, thread_id: str, agent: str | None, user: str | None) -> GraphThread:
    """The thread, made when it is new, locked for other writers; ConflictError for another user's.

    A thread of nobody yet becomes the user's.
    """
    team_id, agent_id, end_user_id = viewer.team_id, viewer.agent_id, None
    if agent_id is None and agent is not None:
        agent_id = ensure_agent(team_id=team_id, slug=agent).pk
    if user is not None:
        end_user_id = ensure_end_user_id(team_id=team_id, external_id=user)
    viewer = replace(viewer, agent_id=agent_id)
    thread = _ensured(viewer=viewer, thread_id=thread_id, end_user_id=end_user_id)
    if end_user_id is not None and thread.end_user_id != end_user_id:
        if thread.end_user_id is not None:
            raise ConflictError("This thread is another user's.", field="user")
        thread.end_user_id = end_user_id
        thread.save(update_fields=["end_user"])
    return thread


def _ensured(*, viewer: Viewer, thread_id: str, end_user_id: UUID | None) -> GraphThread:
    """The viewer's thread, made of that person when it is new, locked for other writers."""
    rows = _threads(viewer, [thread_id]).select_for_update(no_key=True)
    while (thread := rows.first()) is None:
        new = GraphThread(
            team_id=viewer.team_id,
            agent_id=viewer.agent_id,
            thread_id=thread_id,
            end_user_id=end_user_id,
        )
        GraphThread.objects.bulk_create([new], ignore_conflicts=True)
    return thread


@retried
def delete_threads(*, viewer: Viewer, thread_ids: Collection[str]) -> int:
    """Delete threads of the viewer with all that hangs on them; returns how many there were."""
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        rows = _threads(viewer, thread_ids)
        return rows._raw_delete(rows.db) or 0  # None where the database was not asked


@retried
def delete_runs(*, viewer: Viewer, run_ids: Collection[str]) -> int:
    """Delete the checkpoints of these runs with their writes; returns how many there were.

    A checkpoint's run is the `run_id` of its metadata.
    """
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        rows = GraphCheckpoint.objects.filter(
            team_id=viewer.team_id, run_id__in=set(run_ids) - {""}, thread__agent=viewer.agent_id
        )
        threads = sorted(set(rows.values_list("thread_id", flat=True)))
        _lock(viewer, threads)
        return _delete(viewer, threads, list(rows.values_list("id", flat=True)))


@retried
def prune_threads(*, viewer: Viewer, thread_ids: Collection[str], keep: Keep) -> int:
    """Delete earlier checkpoints of threads of the viewer; returns how many.

    Raises ConflictError where a checkpoint that would be kept may need those before it.
    """
    if keep is Keep.NOTHING:
        return delete_threads(viewer=viewer, thread_ids=thread_ids)
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        threads = list(_threads(viewer, thread_ids).order_by("id").values_list("id", flat=True))
        _lock(viewer, threads)
        rows = GraphCheckpoint.objects.filter(team_id=viewer.team_id, thread_id__in=threads)
        if (needing := rows.filter(needs_ancestors=True).first()) is not None:
            raise ConflictError(
                f"Checkpoints of the thread {needing.thread.thread_id} are read together with those"
                " before them: they can only be deleted with their thread.",
                field="thread_ids",
            )
        place = Window(
            RowNumber(),
            partition_by=[F("thread_id"), F("namespace")],
            order_by=F("checkpoint_id").desc(),
        )
        earlier = rows.annotate(place=place).filter(place__gt=1).values_list("id", flat=True)
        return _delete(viewer, threads, list(earlier))


def _threads(viewer: Viewer, thread_ids: Collection[str]) -> QuerySet[GraphThread, GraphThread]:
    return GraphThread.objects.filter(
        team_id=viewer.team_id, agent=viewer.agent_id, thread_id__in=thread_ids
    )


def _lock(viewer: Viewer, threads: Sequence[UUID]) -> None:
    rows = GraphThread.objects.filter(team_id=viewer.team_id, id__in=threads)
    list(rows.order_by("id").select_for_update())


def _delete(viewer: Viewer, threads: Sequence[UUID], ids: Sequence[UUID]) -> int:
    """Delete checkpoints, their writes, the values that only they have, and what names them."""
    given: dict[str, UUID | list[UUID]] = {
        "team": viewer.team_id,
        "threads": list(threads),
        "ids": list(ids),
    }
    if ids:
        with connection.cursor() as cursor:
            for statement in (_DELETE, _UNUSED_VALUES, _LOST_PARENTS):
                cursor.execute(statement, given)
    return len(ids)


@retried
def copy_thread(*, viewer: Viewer, thread_id: str, target_id: str) -> int:
    """Copy a thread's states to a thread that has none yet; returns how many checkpoints.

    The copy is of the same agent and user. Raises NotFoundError for an unknown thread,
    InvalidError where both are the same and ConflictError where the other one has checkpoints.
    """
    if thread_id == target_id:
        raise InvalidError("Name another thread.", field="target_id")
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        source = _threads(viewer, [thread_id]).select_for_update().first()
        if source is None:
            raise NotFoundError("There is no such thread.")
        target = _ensured(viewer=viewer, thread_id=target_id, end_user_id=source.end_user_id)
        of_target = GraphCheckpoint.objects.filter(team_id=viewer.team_id, thread=target)
        if target.end_user_id != source.end_user_id or of_target.exists():
            raise ConflictError(
                "The thread exists already: name a new one, or delete it first.", field="target_id"
            )
        with connection.cursor() as cursor:
            for model in _COPIED:
                cursor.execute(_copying(model), [target.pk, viewer.team_id, source.pk])
        return of_target.count()


def _copying(model: type[GraphCheckpoint | ChannelValue | PendingWrite]) -> str:
    table = model._meta.db_table
    others = ", ".join(
        f'"{each.column}"'
        for each in model._meta.concrete_fields
        if each.column not in ("id", "thread_id")
    )
    return (
        f'INSERT INTO "{table}" (id, thread_id, {others})'  # noqa: S608 - names of the model
        f" SELECT gen_random_uuid(), %s, {others} FROM {table} o"
        " WHERE o.team_id = %s AND o.thread_id = %s"
    )
