"""What a conversation's context no longer holds in full."""

from __future__ import annotations

from django.db import models

from teams.models import Conversation
from teams.models.base import SameTeamKey, TeamOwned

from .memory import Memory


class Compaction(TeamOwned):
    """Messages `from_position` to `to_position`, extracted and summed up; they stay in the log.

    `summary` covers everything up to `to_position`, earlier compactions included. `points` are the
    statements it was made of, the less important ones that found no room in it included: what the
    next summary is built on. Each is `{"text", "importance", "said_at", "memory_ids"}`.
    """

    conversation = SameTeamKey(Conversation, related_name="compactions")
    from_position = models.PositiveIntegerField()
    to_position = models.PositiveIntegerField()
    summary = models.TextField()
    points = models.JSONField(default=list, blank=True)
    summary_memory = SameTeamKey(Memory)
    extraction = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["conversation", "to_position"]
        constraints = [
            models.UniqueConstraint(
                fields=["team", "conversation", "from_position"], name="compaction_range_once"
            ),
            models.CheckConstraint(
                condition=models.Q(to_position__gte=models.F("from_position")),
                name="compaction_range_ordered",
            ),
        ]

    def __str__(self) -> str:
        return f"compact {self.from_position}-{self.to_position}"
