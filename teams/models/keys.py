"""API keys."""

from __future__ import annotations

from django.db import models

from .base import SameTeamKey, TeamOwned
from .people import Agent


class ApiKey(TeamOwned):
    """A credential of a team, or of one of its agents; only its digest is kept."""

    agent = SameTeamKey(Agent, related_name="keys", null=True, blank=True)
    name = models.CharField(max_length=200, blank=True, default="")
    prefix = models.CharField(max_length=16, editable=False)
    digest = models.BinaryField(max_length=32, unique=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    last_used_at = models.DateTimeField(null=True, blank=True, editable=False)
    revoked_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        verbose_name = "API key"
        ordering = ["-created_at"]
        constraints = [
            models.UniqueConstraint(fields=["team", "prefix"], name="api_key_prefix_once"),
        ]

    def __str__(self) -> str:
        return self.prefix
