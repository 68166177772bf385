"""State that agents' graphs save: threads, checkpoints, channel values, writes, store items."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from memory.models.memory import Memory
from teams.models import Agent, EndUser, Project
from teams.models.base import SameTeamKey, TeamOwned
from teams.models.conversations import MAX_THREAD_CHARS

# Together short enough for one entry of an index, whatever the script.
MAX_NAMESPACE_CHARS = 400
MAX_CHANNEL_CHARS = 180
MAX_GRAPH_ID_CHARS = 60


def _text(most: int) -> models.CharField[str, str]:
    """A short text that is ordered by its bytes, as ids are that grow with time."""
    return models.CharField(max_length=most, db_collation="C", blank=True)


class GraphThread(TeamOwned):
    """A thread of a graph, of an agent or of the team itself, and the person it is about, if known.

    Deleting it deletes its checkpoints, values and writes.
    """

    agent = SameTeamKey(Agent, null=True)
    end_user = SameTeamKey(EndUser, null=True)
    thread_id = models.CharField(max_length=MAX_THREAD_CHARS)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        db_table = "memory_graphthread"
        constraints = [
            models.UniqueConstraint(
                fields=["team", "agent", "thread_id"],
                nulls_distinct=False,
                name="graph_thread_once",
            ),
        ]
        indexes = [
            models.Index(
                fields=["team", "end_user"],
                condition=models.Q(end_user__isnull=False),
                name="graph_thread_by_user",
            )
        ]

    def __str__(self) -> str:
        return self.thread_id


class GraphCheckpoint(TeamOwned):
    """The state of a graph after one of its steps; ids of later ones are greater.

    `channels` says which version of each channel's value belongs to it, `data` is the text of a
    JSON object as the client sent it, `size` the bytes of data, metadata and values together.
    """

    thread = SameTeamKey(GraphThread)
    namespace = _text(MAX_NAMESPACE_CHARS)
    checkpoint_id = _text(MAX_GRAPH_ID_CHARS)
    parent_id = _text(MAX_GRAPH_ID_CHARS)
    run_id = _text(200)
    channels = models.JSONField(default=dict)
    metadata = models.JSONField(default=dict)
    data = models.TextField()
    size = models.PositiveBigIntegerField()
    needs_ancestors = models.BooleanField(default=False)
    saved_at = models.DateTimeField(default=timezone.now)

    class Meta:
        db_table = "memory_graphcheckpoint"
        constraints = [
            models.UniqueConstraint(
                fields=["team", "thread", "namespace", "checkpoint_id"],
                name="graph_checkpoint_once",
            ),
        ]
        indexes = [
            models.Index(
                fields=["team", "run_id"],
                condition=~models.Q(run_id=""),
                name="graph_checkpoint_by_run",
            ),
            models.Index(fields=["team", "-checkpoint_id"], name="graph_checkpoint_by_id"),
        ]

    def __str__(self) -> str:
        return self.checkpoint_id


class ChannelValue(TeamOwned):
    """One version of what a channel holds, shared by the checkpoints that name it.

    `kind` is how the client encoded the bytes of `value`.
    """

    thread = SameTeamKey(GraphThread)
    namespace = _text(MAX_NAMESPACE_CHARS)
    channel = _text(MAX_CHANNEL_CHARS)
    version = _text(MAX_GRAPH_ID_CHARS)
    kind = models.CharField(max_length=50)
    value = models.BinaryField()

    class Meta:
        db_table = "memory_channelvalue"
        constraints = [
            models.UniqueConstraint(
                fields=["team", "thread", "namespace", "channel", "version"],
                name="graph_channel_value_once",
            ),
        ]

    def __str__(self) -> str:
        return self.channel


class PendingWrite(TeamOwned):
    """A task's write to a channel after a checkpoint, before the next one holds it."""

    thread = SameTeamKey(GraphThread)
    namespace = _text(MAX_NAMESPACE_CHARS)
    checkpoint_id = _text(MAX_GRAPH_ID_CHARS)
    task_id = _text(MAX_GRAPH_ID_CHARS)
    task_path = _text(1000)
    index = models.IntegerField()
    channel = _text(MAX_CHANNEL_CHARS)
    kind = models.CharField(max_length=50)
    value = models.BinaryField()

    class Meta:
        db_table = "memory_pendingwrite"
        constraints = [
            models.UniqueConstraint(
                fields=["team", "thread", "namespace", "checkpoint_id", "task_id", "index"],
                name="graph_pending_write_once",
            ),
        ]

    def __str__(self) -> str:
        return self.channel


class StoreItem(TeamOwned):
    """A value that a program keeps under a namespace and a key, and the memory of its words.

    `agent`, `end_user` and `project` are whose it is. `value` is replaced in place; each of its
    texts is a version of `memory`, which every search finds. Without one it is found by its value.
    `path` is the namespace, its labels with dots between them, `size` the bytes of the value.
    """

    path = _text(MAX_NAMESPACE_CHARS)
    key = _text(200)
    value = models.JSONField()
    size = models.PositiveBigIntegerField(default=0, db_default=0)
    agent = SameTeamKey(Agent, null=True)
    end_user = SameTeamKey(EndUser, null=True)
    project = SameTeamKey(Project, null=True)
    memory = SameTeamKey(Memory, null=True)
    ttl_minutes = models.FloatField(null=True)
    expires_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(default=timezone.now)
    updated_at = models.DateTimeField(default=timezone.now)

    class Meta:
        db_table = "memory_storeitem"
        constraints = [
            models.UniqueConstraint(fields=["team", "path", "key"], name="store_item_once"),
        ]
        indexes = [
            models.Index(
                fields=["team", "expires_at"],
                condition=models.Q(expires_at__isnull=False),
                name="store_item_by_expiry",
            ),
            models.Index(
                fields=["team", "memory"],
                condition=models.Q(memory__isnull=False),
                name="store_item_by_memory",
            ),
            models.Index(
                fields=["team", "end_user"],
                condition=models.Q(end_user__isnull=False),
                name="store_item_by_user",
            ),
        ]

    def __str__(self) -> str:
        return self.key
