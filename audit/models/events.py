"""What the product did, for the operator, and which batches of it are written down."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from teams.ids import new_id
from teams.models import Team


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


class WrittenBatch(models.Model):
    """That a batch of counts is written down, so that after a crash it is not written again."""

    id = models.UUIDField(primary_key=True, editable=False)
    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="+", db_index=False)
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name_plural = "written batches"

    def __str__(self) -> str:
        return str(self.pk)
