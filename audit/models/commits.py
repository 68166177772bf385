"""The order in which a team's changes were committed."""

from __future__ import annotations

from django.db import models

from teams.models import Team
from teams.models.base import TeamOwned


class LogCommit(models.Model):
    """A transaction that changed memories of a team; see audit/sql/commit_order.sql.

    `position` numbers a team's commits in their order and `at` grows with it: what a reader saw at
    an instant is all commits up to it. No row of these commits has a greater number than `last_seq`
    and no memory a greater id than `last_memory_id`, which keeps reads of the past short.
    """

    id = models.BigAutoField(primary_key=True)
    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="+", db_index=False)
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
