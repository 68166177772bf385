"""Further names of an agent."""

from __future__ import annotations

from django.db import models

from .base import SameTeamKey, TeamOwned
from .people import Agent


class AgentAlias(TeamOwned):
    """Another name by which the API finds an agent, such as the slug it had before.

    No alias is the slug of an agent of the team: the database refuses both ways, and turns the old
    slug into an alias where a slug is changed by SQL (sql/agent_aliases.sql).
    """

    agent = SameTeamKey(Agent, related_name="aliases")
    slug = models.CharField(max_length=100)
    actor = models.CharField(max_length=200)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["slug"]
        constraints = [
            models.UniqueConstraint(fields=["team", "slug"], name="agent_alias_once"),
        ]
        indexes = [models.Index(fields=["team", "agent"], name="agent_alias_by_agent")]

    def __str__(self) -> str:
        return self.slug
