"""Pairs of memories that a judge found to conflict."""

from __future__ import annotations

from django.db import models

from memory.domain.types import Strategy, Verdict
from teams.models.base import SameTeamKey, TeamOwned

from .memory import Memory

STRATEGIES = [(item.value, item.value) for item in Strategy]
VERDICTS = [
    (item.value, item.value) for item in (Verdict.SUPERSEDE, Verdict.DISPUTE, Verdict.COEXIST)
]
RESOLUTIONS = [(name, name) for name in ("a_wins", "b_wins", "both_valid", "merged")]


class Contradiction(TeamOwned):
    """`memory_a` stood first, `memory_b` came later; open while it has no resolution.

    Without a `memory_b` somebody said that `memory_a` is wrong, and nothing stands against it yet.
    """

    memory_a = SameTeamKey(Memory)
    memory_b = SameTeamKey(Memory, null=True, blank=True)
    strategy = models.CharField(max_length=30, choices=STRATEGIES)
    judge = models.CharField(max_length=200)
    verdict = models.CharField(max_length=20, choices=VERDICTS)
    reason = models.TextField(blank=True, default="")
    detected_at = models.DateTimeField(auto_now_add=True)
    resolution = models.CharField(max_length=20, choices=RESOLUTIONS, blank=True, default="")
    resolution_note = models.TextField(blank=True, default="")
    resolved_by = models.CharField(max_length=200, blank=True, default="")
    resolved_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-detected_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["team", "memory_a", "memory_b"],
                condition=models.Q(resolved_at__isnull=True),
                nulls_distinct=False,
                name="contradiction_open_once",
            ),
            models.CheckConstraint(
                condition=~models.Q(memory_a=models.F("memory_b")), name="contradiction_of_two"
            ),
            models.CheckConstraint(
                condition=models.Q(resolved_at__isnull=True, resolution="")
                | models.Q(resolved_at__isnull=False)
                & models.Q(resolution__in=[name for name, _ in RESOLUTIONS]),
                name="contradiction_resolved_whole",
            ),
        ]
        indexes = [
            models.Index(
                fields=["team", "-detected_at"],
                condition=models.Q(resolved_at__isnull=True),
                name="contradiction_open",
            ),
            models.Index(fields=["team", "memory_a"], name="contradiction_by_earlier"),
            models.Index(fields=["team", "memory_b"], name="contradiction_by_later"),
        ]

    def __str__(self) -> str:
        return f"{self.verdict} {str(self.pk)[-6:]}"
