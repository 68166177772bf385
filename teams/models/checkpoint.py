"""What an agent's own runtime keeps of a thread, so that it goes on where it stopped."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from .base import TeamOwned
from .people import Agent, EndUser


class Checkpoint(TeamOwned):
    """One saved state of a thread of an end user (seed 004 §15); the highest version stands.

    `data` is the JSON text of an object, to the letter as `services.checkpoints` wrote it: columns
    of type jsonb would lose the order of keys and refuse some strings. `size` is its UTF-8 bytes.
    """

    agent = models.ForeignKey(
        Agent,
        on_delete=models.PROTECT,
        related_name="+",
        null=True,
        blank=True,
        db_constraint=False,
        db_index=False,
        help_text="Whose it is; without one it is the team's own.",
    )
    end_user = models.ForeignKey(
        EndUser, on_delete=models.PROTECT, related_name="+", db_constraint=False, db_index=False
    )
    thread_id = models.CharField(max_length=200)
    version = models.PositiveIntegerField()
    data = models.TextField()
    size = models.PositiveIntegerField()
    actor = models.CharField(max_length=200)
    saved_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["team", "end_user", "thread_id", "agent", "version"],
                nulls_distinct=False,
                name="checkpoint_version_once",
            ),
            models.CheckConstraint(
                condition=models.Q(version__gte=1), name="checkpoint_version_from_one"
            ),
        ]
        indexes = [models.Index(fields=["team", "-saved_at"], name="checkpoint_by_time")]

    def __str__(self) -> str:
        return f"{self.thread_id} {self.version}"
