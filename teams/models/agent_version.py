"""What an agent's identity document was, and who changed it."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from .base import TeamOwned
from .people import Agent


class AgentVersion(TeamOwned):
    """An agent's document as it stood from `created_at` on; written by the database alone.

    Every change of an agent's row leaves one in the transaction of the change, whoever makes it
    (sql/agent_versions.sql).
    """

    agent = models.ForeignKey(
        Agent,
        on_delete=models.PROTECT,
        related_name="versions",
        db_constraint=False,
        db_index=False,
    )
    number = models.PositiveIntegerField(help_text="1 for the first.")
    document = models.JSONField()
    actor = models.CharField(max_length=200)
    reason = models.TextField(blank=True, default="")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-number"]
        constraints = [
            models.UniqueConstraint(fields=["team", "agent", "number"], name="agent_version_once"),
            models.CheckConstraint(
                condition=models.Q(number__gte=1), name="agent_version_from_one"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.agent_id} {self.number}"
