"""The append-only log of every change of a memory, and how often a team's memories changed."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from teams.ids import new_id
from teams.models import Team


class MemoryLog(models.Model):
    """One change of one memory, written by the database in the transaction of the change.

    `state` is every column of the memory after the change except its text and `updated_at`;
    `digest` is the SHA-256 of the text, which stands once, in the memory itself.
    """

    seq = models.BigAutoField(primary_key=True)
    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="+", db_index=False)
    memory_id = models.UUIDField()
    event = models.CharField(max_length=40)
    actor = models.CharField(max_length=200)
    reason = models.TextField(blank=True, default="")
    state = models.JSONField()
    digest = models.BinaryField(max_length=32)
    conversation_id = models.UUIDField(null=True)
    revision = models.BigIntegerField(null=True)
    at = models.DateTimeField()

    class Meta:
        verbose_name = "log entry"
        verbose_name_plural = "log entries"
        ordering = ["-seq"]
        indexes = [
            models.Index(fields=["team", "memory_id", "seq"], name="memory_log_by_memory"),
            models.Index(fields=["team", "at"], name="memory_log_by_time"),
            models.Index(
                fields=["team", "conversation_id", "revision"], name="memory_log_by_revision"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.event} {self.seq}"


class OperationalEvent(models.Model):
    """Something the product did, for counts and questions of the operator (seed 004 §14).

    No contents stand here: `meta` holds figures and reasons only.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="+", db_index=False)
    node = models.CharField(max_length=40)
    op = models.CharField(max_length=40)
    status = models.CharField(max_length=20)
    memory_id = models.UUIDField(null=True)
    end_user_id = models.UUIDField(null=True)
    conversation_id = models.UUIDField(null=True)
    similarity = models.FloatField(null=True)
    meta = models.JSONField(default=dict)
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["team", "-at"], name="event_by_time"),
            models.Index(fields=["team", "op", "-at"], name="event_by_op"),
        ]

    def __str__(self) -> str:
        return f"{self.node} {self.op} {self.status}"


class TeamRevision(models.Model):
    """A part of a team's revision, which is the sums over its rows; see audit/sql/team_revision.sql.

    `memories` counts the transactions that changed what its answers are made of, `messages` those
    that changed its messages. The database writes it and nobody else.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="+", db_index=False)
    memories = models.BigIntegerField()
    messages = models.BigIntegerField()

    class Meta:
        verbose_name = "team revision"

    def __str__(self) -> str:
        return f"{self.memories}, {self.messages}"


class WrittenBatch(models.Model):
    """That a batch of counts is written down, so that after a crash it is not written again."""

    id = models.UUIDField(primary_key=True, editable=False)
    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="+", db_index=False)
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name_plural = "written batches"

    def __str__(self) -> str:
        return str(self.pk)
