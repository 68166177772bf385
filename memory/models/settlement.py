"""Decisions on contradictions: what each one changed, so that it can be taken back."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models

from memory.models.memory import Memory
from memory.models.relation import RESOLUTIONS, Contradiction
from teams.models.base import SameTeamKey, TeamOwned


class Settlement(TeamOwned):
    """One decision on a contradiction; taken back once it has an `undone_at`.

    The rows `first_seq` to `last_seq` of the log that belong to `commit_id` say what it changed;
    there are none where it changed no memory. `ended` names the other contradictions that ended
    with it, `merged_memory` what was written in place of both sides. Its note stands in the log
    and, as long as it holds, in the contradiction.
    """

    contradiction = SameTeamKey(Contradiction)
    resolution = models.CharField(max_length=20, choices=RESOLUTIONS)
    actor = models.CharField(max_length=200)
    settled_at = models.DateTimeField()
    commit_id = models.BigIntegerField(null=True, editable=False)
    first_seq = models.BigIntegerField(null=True, editable=False)
    last_seq = models.BigIntegerField(null=True, editable=False)
    merged_memory = SameTeamKey(Memory, null=True, blank=True)
    ended = ArrayField(models.UUIDField(), default=list, blank=True)
    undone_at = models.DateTimeField(null=True, blank=True)
    undone_by = models.CharField(max_length=200, blank=True, default="")

    class Meta:
        ordering = ["-settled_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["team", "contradiction"],
                condition=models.Q(undone_at__isnull=True),
                name="settlement_in_force_once",
            ),
            models.CheckConstraint(
                condition=models.Q(resolution__in=[name for name, _ in RESOLUTIONS]),
                name="settlement_resolution_known",
            ),
        ]
        indexes = [
            models.Index(
                fields=["team", "contradiction", "-settled_at"], name="settlement_by_contradiction"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.resolution} {str(self.pk)[-6:]}"
