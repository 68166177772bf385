"""The append-only log of every change of a memory."""

from __future__ import annotations

from django.db import models

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
        return f"{self.event} {self.memory_id}"
