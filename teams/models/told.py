"""What an agent has been told of the changes of a thread's memories."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from .base import TeamOwned
from .conversations import Conversation


class ToldRevision(TeamOwned):
    """Up to which revision the prompts of a conversation have told what changed.

    It stands apart from the conversation's row, which writers of memories hold while they write:
    a prompt must not wait for them.
    """

    conversation = models.ForeignKey(
        Conversation,
        on_delete=models.PROTECT,
        related_name="+",
        db_constraint=False,
        db_index=False,
    )
    revision = models.BigIntegerField()
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["team", "conversation"], name="told_revision_once"),
        ]

    def __str__(self) -> str:
        return str(self.revision)
