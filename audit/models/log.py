"""The append-only log of every change of a memory."""

from __future__ import annotations

from django.db import models

from teams.models import Team

# Every name that the database gives a change (audit/sql/memory_log.sql, commit_order.sql,
# enter_log.sql); asking the log for its distinct ones would read all of it.
EVENTS = (
    "created",
    "versioned",
    "corrected",
    "merged",
    "compacted",
    "duplicate_skipped",
    "contradiction_detected",
    "contradiction_resolved",
    "superseded",
    "pinned",
    "unpinned",
    "promoted",
    "demoted",
    "archived",
    "soft_deleted",
    "restored",
    "erased",
    "linked",
    "unlinked",
    "updated",
)


class MemoryLog(models.Model):
    """One change of one memory, written by the database in the transaction of the change.

    `state` is every column of the memory after the change except its text and `updated_at`;
    `digest` is the SHA-256 of the text, which stands once, in the memory itself, after its salt.
    `reason_digest` is that of the reason and `reason_salt`. `commit_id` is the commit that made the
    change, `is_first` marks the memory's first row, `new_end_user_id` is set where the memory
    begins to be about another person, and `detail` holds what the state does not, such as new
    links. `at` is when the change was made; others could see it from the time of its commit.
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
    commit_id = models.BigIntegerField(editable=False)
    is_first = models.BooleanField(editable=False)
    new_end_user_id = models.UUIDField(null=True, editable=False)
    detail = models.JSONField(null=True, editable=False)
    reason_salt = models.BinaryField(max_length=16, null=True)
    reason_digest = models.BinaryField(max_length=32, null=True)

    class Meta:
        verbose_name = "log entry"
        verbose_name_plural = "log entries"
        ordering = ["-seq"]
        indexes = [
            models.Index(fields=["team", "seq"], name="memory_log_by_number"),
            models.Index(fields=["team", "memory_id", "seq"], name="memory_log_by_memory"),
            models.Index(fields=["team", "at"], name="memory_log_by_time"),
            models.Index(fields=["team", "event", "seq"], name="memory_log_by_event"),
            models.Index(fields=["team", "actor", "seq"], name="memory_log_by_actor"),
            models.Index(
                fields=["team", "conversation_id", "revision"], name="memory_log_by_revision"
            ),
            models.Index(fields=["team", "commit_id", "memory_id"], name="memory_log_by_commit"),
            models.Index(
                fields=["team", "memory_id"],
                include=["seq"],
                condition=models.Q(is_first=True),
                name="memory_log_of_births",
            ),
            models.Index(
                fields=["team", "new_end_user_id", "memory_id"],
                condition=models.Q(new_end_user_id__isnull=False),
                name="memory_log_of_people",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.event} {self.seq}"
