"""Edges between memories."""

from __future__ import annotations

from django.db import models

from teams.models.base import SameTeamKey, TeamOwned

from .memory import Memory

RELATION_TYPES = [
    (name, name)
    for name in ("related_to", "supersedes", "contradicts", "merged_from", "derived_from")
]


class MemoryRelation(TeamOwned):
    """A weighted, directed edge; `strength` is 0-1."""

    from_memory = SameTeamKey(Memory)
    to_memory = SameTeamKey(Memory)
    relation_type = models.CharField(max_length=20, choices=RELATION_TYPES, default="related_to")
    strength = models.FloatField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name = "relation"
        constraints = [
            models.UniqueConstraint(
                fields=["team", "from_memory", "to_memory", "relation_type"],
                name="memory_relation_once",
            ),
            models.CheckConstraint(
                condition=models.Q(relation_type__in=[name for name, _ in RELATION_TYPES]),
                name="memory_relation_type_known",
            ),
            models.CheckConstraint(
                condition=models.Q(strength__range=(0.0, 1.0)), name="memory_relation_strength"
            ),
            models.CheckConstraint(
                condition=~models.Q(from_memory=models.F("to_memory")),
                name="memory_relation_not_to_itself",
            ),
        ]
        indexes = [models.Index(fields=["team", "to_memory"], name="memory_relation_by_target")]

    def __str__(self) -> str:
        return f"{self.from_memory_id} {self.relation_type} {self.to_memory_id}"
