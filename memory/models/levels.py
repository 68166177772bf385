"""Shorter versions of a long memory's text, which may be written anew."""

from __future__ import annotations

from django.db import models
from pgvector.django import HalfVectorField

from memory.domain.levels import Level
from memory.models.memory import Memory
from teams.models import Team
from teams.models.base import SameTeamRow

TOLD_LEVELS = [
    (level.value, level.value) for level in (Level.CONTENT, Level.SUMMARY, Level.COMPRESSED)
]


class MemoryLevels(models.Model):
    """The summary, compressed text and index term of one memory.

    The row comes with the memory and waits, without a `writer`, until a task fills it; a trigger
    logs that. `writer` names the rules or the model that wrote it. The vector is the summary's.
    Prompts tell no more than the level `told_at_most`, which a consolidation alone changes.
    """

    memory = SameTeamRow(
        Memory,
        on_delete=models.PROTECT,
        primary_key=True,
        related_name="stored_levels",
        db_constraint=False,
    )
    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="+", db_index=False)
    summary = models.TextField(blank=True, default="", db_default="")
    compressed = models.TextField(blank=True, default="", db_default="")
    index_term = models.CharField(max_length=50, blank=True, default="", db_default="")
    writer = models.CharField(max_length=200, blank=True, default="", db_default="")
    told_at_most = models.CharField(
        max_length=20,
        choices=TOLD_LEVELS,
        default=Level.CONTENT.value,
        db_default=Level.CONTENT.value,
    )
    embedding = HalfVectorField(null=True)
    embedding_model = models.CharField(max_length=200, blank=True, default="", db_default="")

    class Meta:
        verbose_name_plural = "levels"
        constraints = [
            models.CheckConstraint(
                condition=models.Q(told_at_most__in=[value for value, _ in TOLD_LEVELS]),
                name="memory_levels_told_known",
            ),
        ]
        indexes = [
            models.Index(
                fields=["team", "memory"],
                condition=models.Q(writer=""),
                name="memory_levels_waiting",
            ),
        ]

    def __str__(self) -> str:
        return self.index_term or str(self.memory_id)
