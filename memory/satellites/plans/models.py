"""After which signals of the work memories were of use."""

from __future__ import annotations

from django.db import models

from memory.models.memory import Memory
from teams.models import Project
from teams.models.base import SameTeamKey, TeamOwned


class SignalUse(TeamOwned):
    """The weight of one signal for one memory up to `noted_at`; halves in 30 days.

    A trigger deletes it when the memory is erased.
    """

    project = SameTeamKey(Project, null=True)
    signal = models.CharField(max_length=200)
    memory = SameTeamKey(Memory)
    weight = models.FloatField()
    noted_at = models.DateTimeField()

    class Meta:
        db_table = "memory_signaluse"
        constraints = [
            models.UniqueConstraint(
                fields=["team", "memory", "signal"], name="memory_signal_use_once"
            ),
        ]
        indexes = [
            models.Index(fields=["team", "project", "signal"], name="memory_uses_of_signal"),
            models.Index(fields=["team", "project", "-noted_at"], name="memory_uses_by_time"),
        ]

    def __str__(self) -> str:
        return self.signal
