"""Further external ids under which a memory was acknowledged."""

from __future__ import annotations

from django.db import models

from teams.models import Agent
from teams.models.base import SameTeamKey, TeamOwned

from .memory import Memory


class ExternalName(TeamOwned):
    """An external id that was sent with a repetition of a memory that bears another one, or none.

    So that what was acknowledged under it stays known under it, whatever becomes of the memory.
    `text_key` is the digest of the normalised text that was sent. Erasing the memory deletes it.
    """

    memory = SameTeamKey(Memory)
    agent = SameTeamKey(Agent, null=True)
    external_id = models.CharField(max_length=200)
    text_key = models.BinaryField(max_length=32, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name = "external name"
        constraints = [
            models.UniqueConstraint(
                fields=["team", "external_id", "agent"],
                nulls_distinct=False,
                name="memory_external_name_once",
            ),
        ]
        indexes = [models.Index(fields=["team", "memory"], name="memory_names_of_memory")]

    def __str__(self) -> str:
        return self.external_id
