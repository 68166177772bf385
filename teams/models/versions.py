"""Versions of agents' documents and of teams' settings, which the database alone writes."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from .base import SameTeamKey, TeamOwned
from .people import Agent


class AgentVersion(TeamOwned):
    """An agent's document as it stood from `created_at` on; written by the database alone.

    Every change of an agent's row leaves one in the transaction of the change, whoever makes it
    (sql/agent_versions.sql).
    """

    agent = SameTeamKey(Agent, related_name="versions")
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


class TeamVersion(TeamOwned):
    """A team's settings as they stood from `created_at` on; written by the database alone.

    Every change of its name, time zone, budgets or flags leaves one in the transaction of the
    change, whoever makes it (sql/team_versions.sql).
    """

    number = models.PositiveIntegerField(help_text="1 for the first.")
    document = models.JSONField()
    actor = models.CharField(max_length=200)
    reason = models.TextField(blank=True, default="")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-number"]
        constraints = [
            models.UniqueConstraint(fields=["team", "number"], name="team_version_once"),
            models.CheckConstraint(condition=models.Q(number__gte=1), name="team_version_from_one"),
        ]

    def __str__(self) -> str:
        return f"{self.team_id} {self.number}"
