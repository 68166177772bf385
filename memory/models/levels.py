"""Shorter versions of a long memory's text, which may be written anew."""

from __future__ import annotations

from django.db import models
from pgvector.django import HalfVectorField

from memory.models.memory import Memory
from teams.models import Team


class MemoryLevels(models.Model):
    """The summary, compressed text and index term of one memory.

    The row comes with the memory and waits, without a `writer`, until a task fills it; a trigger
    logs that. `writer` names the rules or the model that wrote it. The vector is the summary's.
    """

    memory = models.OneToOneField(
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
    embedding = HalfVectorField(null=True)
    embedding_model = models.CharField(max_length=200, blank=True, default="", db_default="")

    class Meta:
        verbose_name_plural = "levels"
        indexes = [
            models.Index(
                fields=["team", "memory"],
                condition=models.Q(writer=""),
                name="memory_levels_waiting",
            ),
        ]

    def __str__(self) -> str:
        return self.index_term or str(self.memory_id)
