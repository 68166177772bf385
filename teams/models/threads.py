"""What is kept of a thread: states that a runtime saves, and how far changes were reported."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from .base import SameTeamKey, TeamOwned
from .conversations import Conversation
from .people import Agent, EndUser


class Checkpoint(TeamOwned):
    """One saved state of a thread of an end user (seed 004 §15); the highest version is current.

    `data` is the text of a JSON object exactly as `services.checkpoints` wrote it: jsonb would
    lose the order of keys and refuse some strings. `size` is its length in UTF-8 bytes.
    """

    agent = SameTeamKey(
        Agent, null=True, blank=True, help_text="Whose it is; without one it is the team's own."
    )
    end_user = SameTeamKey(EndUser)
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


class ToldRevision(TeamOwned):
    """The revision up to which a conversation's prompts have reported changes.

    A table of its own, because writers of memories lock the conversation's row while they write,
    and a prompt must not wait for them.
    """

    conversation = SameTeamKey(Conversation)
    revision = models.BigIntegerField()
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["team", "conversation"], name="told_revision_once"),
        ]

    def __str__(self) -> str:
        return str(self.revision)
