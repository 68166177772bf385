"""Decisions of people about unconfirmed memories."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from memory.models import Memory
from teams.models.base import SameTeamKey, TeamOwned


class Confirmation(TeamOwned):
    """A decision of people about a memory that a tool or a page alone says.

    A trigger makes it with the memory. Without a `decision` it waits, while the memory is live and
    unconfirmed. The rows `first_seq` to `last_seq` of the log that belong to `commit_id` are what
    the decision changed; its note stands in the log.
    """

    class Decision(models.TextChoices):
        CONFIRMED = "confirmed", "Confirmed"
        REJECTED = "rejected", "Rejected"

    memory = SameTeamKey(Memory)
    decision = models.CharField(
        max_length=10, choices=Decision.choices, blank=True, default="", db_default=""
    )
    created_at = models.DateTimeField(default=timezone.now)
    decided_by = models.CharField(max_length=200, blank=True, default="", db_default="")
    decided_at = models.DateTimeField(null=True, blank=True)
    snoozed_until = models.DateTimeField(
        null=True, blank=True, help_text="Until then the inbox leaves it out."
    )
    commit_id = models.BigIntegerField(null=True, editable=False)
    first_seq = models.BigIntegerField(null=True, editable=False)
    last_seq = models.BigIntegerField(null=True, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["team", "memory"], name="confirmation_once"),
            models.CheckConstraint(
                condition=models.Q(decision="", decided_at__isnull=True)
                | models.Q(decision__in=["confirmed", "rejected"], decided_at__isnull=False),
                name="confirmation_decided_whole",
            ),
        ]

    def __str__(self) -> str:
        return self.decision or "waiting"
