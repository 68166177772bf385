"""How often a memory was of use."""

from __future__ import annotations

from django.db import models

from teams.models import Team

from .memory import Memory


class MemoryUsage(models.Model):
    """Counters of one memory, flushed in batches; not part of the memory's logged state."""

    memory = models.OneToOneField(
        Memory,
        on_delete=models.PROTECT,
        primary_key=True,
        related_name="usage",
        db_constraint=False,
    )
    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="+", db_index=False)
    retrieved = models.PositiveBigIntegerField(default=0)
    cited = models.PositiveBigIntegerField(default=0)
    ignored = models.PositiveBigIntegerField(default=0)
    succeeded = models.PositiveBigIntegerField(default=0)
    failed = models.PositiveBigIntegerField(default=0)
    last_accessed_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            # Partial, so that the planner cannot look up one memory's counters by it: of an almost
            # empty table it takes any index, and a kept plan then reads all of the team's rows.
            models.Index(
                fields=["team", "-last_accessed_at"],
                name="memory_usage_by_access",
                condition=models.Q(last_accessed_at__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return str(self.memory_id)
