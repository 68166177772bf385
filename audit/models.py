"""The log, its order and its seals, what was done, and how often a team's memories changed."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from teams.ids import new_id
from teams.models.base import OfTeam, TeamKey, TeamOwned

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
    "purged",
    "restored",
    "erased",
    "compressed",
    "linked",
    "unlinked",
    "updated",
)


class MemoryLog(OfTeam):
    """One change of one memory, written by the database in the transaction of the change.

    `state` is every column of the memory after the change except its text and `updated_at`;
    `digest` is the SHA-256 of the text, which stands once, in the memory itself, after its salt.
    `reason_digest` is that of the reason and `reason_salt`. `commit_id` is the commit that made the
    change, `is_first` marks the memory's first row, `new_end_user_id` is set where the memory
    begins to be about another person, and `detail` holds what the state does not, such as new
    links. `at` is when the change was made; others could see it from the time of its commit.
    """

    seq = models.BigAutoField(primary_key=True)
    team = TeamKey()
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


class LogCommit(OfTeam):
    """A transaction that changed memories of a team; see audit/sql/commit_order.sql.

    `position` numbers a team's commits in their order and `at` grows with it: what a reader saw at
    an instant is all commits up to it. No row of these commits has a greater number than `last_seq`
    and no memory a greater id than `last_memory_id`, which keeps reads of the past short.
    """

    id = models.BigAutoField(primary_key=True)
    team = TeamKey()
    transaction_number = models.BigIntegerField()
    began_at = models.DateTimeField()
    is_last = models.BooleanField()
    position = models.BigIntegerField(null=True)
    at = models.DateTimeField(null=True)
    last_seq = models.BigIntegerField(null=True)
    last_memory_id = models.UUIDField(null=True)

    class Meta:
        verbose_name = "commit"
        ordering = ["-position"]
        constraints = [
            models.UniqueConstraint(
                fields=["team", "transaction_number", "began_at"], name="commit_of_transaction"
            ),
            models.UniqueConstraint(fields=["team", "position"], name="commit_position_once"),
        ]
        indexes = [
            models.Index(fields=["team", "at"], name="commit_by_time"),
            models.Index(
                fields=["transaction_number"],
                condition=models.Q(at__isnull=True),
                name="commit_under_way",
            ),
        ]

    def __str__(self) -> str:
        return f"commit {self.position}"


class CommitClock(TeamOwned):
    """The position and time of a team's last commit; written by the database alone."""

    position = models.BigIntegerField()
    at = models.DateTimeField()
    last_seq = models.BigIntegerField()
    last_memory_id = models.UUIDField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team"], name="commit_clock_of_team")]

    def __str__(self) -> str:
        return f"{self.position} at {self.at}"


class Seal(TeamOwned):
    """One range of a team's log, closed for good: the rows after `after_seq` up to `last_seq`.

    `leaves` holds each row's number (8 bytes), the digest of what outlives an erasure (32) and that
    of the rest (32); `digest` is keyed, by a key outside the database that `key_id` tells apart,
    and covers all of it and the digest of the seal before (audit/services/seals.py). No row up to
    `last_seq` is of a commit after `upto_position`, so reads of the past need not ask it which.
    """

    number = models.PositiveBigIntegerField()
    after_seq = models.BigIntegerField()
    last_seq = models.BigIntegerField()
    rows = models.PositiveIntegerField()
    leaves = models.BinaryField()
    key_id = models.CharField(max_length=16)
    digest = models.BinaryField(max_length=32)
    sealed_at = models.DateTimeField()
    upto_position = models.BigIntegerField(null=True)

    class Meta:
        ordering = ["-number"]
        constraints = [
            models.UniqueConstraint(fields=["team", "number"], name="seal_number_once"),
        ]
        indexes = [models.Index(fields=["team", "upto_position"], name="seal_by_position")]

    def __str__(self) -> str:
        return f"seal {self.number}"


class Erasure(TeamOwned):
    """The record of an erased person, or of purged memories, written in the erasure's transaction.

    `end_user_id` is null for purged memories. `counts` says how much of what kind was emptied, and
    `kept`, the ids of readable memories about others that rest on a person's words in part.
    """

    end_user_id = models.UUIDField(null=True)
    actor = models.CharField(max_length=200)
    reason = models.TextField(blank=True, default="")
    counts = models.JSONField(default=dict)
    at = models.DateTimeField()

    class Meta:
        ordering = ["-at"]
        constraints = [
            models.UniqueConstraint(fields=["team", "end_user_id"], name="erasure_once"),
        ]

    def __str__(self) -> str:
        return f"erasure {self.end_user_id or 'of purged memories'}"


class OperationalEvent(OfTeam):
    """An operation in figures and reasons, without contents (seed 004 §14)."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    team = TeamKey()
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


class WrittenBatch(OfTeam):
    """A batch of counts already written, so that it is not written again after a crash."""

    id = models.UUIDField(primary_key=True, editable=False)
    team = TeamKey()
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name_plural = "written batches"

    def __str__(self) -> str:
        return str(self.pk)


class TeamRevision(OfTeam):
    """A part of a team's revision, which is the sums over its rows (audit/sql/team_revision.sql).

    `memories` counts the transactions that changed what its answers are made of, `messages` those
    that changed its messages. The database writes it and nobody else.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    team = TeamKey()
    memories = models.BigIntegerField()
    messages = models.BigIntegerField()

    class Meta:
        verbose_name = "team revision"

    def __str__(self) -> str:
        return f"{self.memories}, {self.messages}"
