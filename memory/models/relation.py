"""Edges between memories, contradictions, and the decisions on them."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models

from memory.domain.judgements import told_decision
from memory.domain.types import Strategy, Verdict
from memory.models.memory import Memory, one_of
from teams.models.base import SameTeamKey, TeamOwned

RELATION_TYPES = [
    (name, name)
    for name in ("related_to", "supersedes", "contradicts", "merged_from", "derived_from")
]
STRATEGIES = [(item.value, item.value) for item in Strategy]
VERDICTS = [
    (item.value, item.value) for item in (Verdict.SUPERSEDE, Verdict.DISPUTE, Verdict.COEXIST)
]
RESOLUTIONS = [(name, name) for name in ("a_wins", "b_wins", "both_valid", "merged")]


class MemoryRelation(TeamOwned):
    """A weighted, directed edge; `strength` is 0-1.

    `grounds` say why a consolidation found it, joined by commas; "" for all other edges.
    """

    from_memory = SameTeamKey(Memory)
    to_memory = SameTeamKey(Memory)
    relation_type = models.CharField(max_length=20, choices=RELATION_TYPES, default="related_to")
    strength = models.FloatField()
    grounds = models.CharField(max_length=60, blank=True, default="", db_default="")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name = "relation"
        constraints = [
            models.UniqueConstraint(
                fields=["team", "from_memory", "to_memory", "relation_type"],
                name="memory_relation_once",
            ),
            one_of("relation_type", RELATION_TYPES, name="memory_relation_type_known"),
            models.CheckConstraint(
                condition=models.Q(strength__range=(0.0, 1.0)), name="memory_relation_strength"
            ),
            models.CheckConstraint(
                condition=~models.Q(from_memory=models.F("to_memory")),
                name="memory_relation_not_to_itself",
            ),
        ]
        indexes = [
            models.Index(fields=["team", "to_memory"], name="memory_relation_by_target"),
            models.Index(
                fields=["team", "id"],
                condition=~models.Q(grounds=""),
                name="memory_relation_discovered",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.from_memory_id} {self.relation_type} {self.to_memory_id}"


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
    snoozed_until = models.DateTimeField(
        null=True, blank=True, help_text="Until then the review queue leaves it out."
    )

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
            models.Index(fields=["team", "-detected_at"], name="contradiction_by_time"),
            models.Index(
                fields=["team", "-resolved_at"],
                condition=models.Q(resolved_at__isnull=False),
                name="contradiction_by_settlement",
            ),
            models.Index(fields=["team", "memory_a"], name="contradiction_by_earlier"),
            models.Index(fields=["team", "memory_b"], name="contradiction_by_later"),
        ]

    def __str__(self) -> str:
        return f"{self.verdict} {str(self.pk)[-6:]}"

    @property
    def decision(self) -> str:
        """The way, time, reason and author of the settlement, in words; empty while it is open."""
        if self.resolved_at is None:
            return ""
        return told_decision(
            resolution=self.resolution,
            is_of_two=self.memory_b_id is not None,
            by=self.resolved_by,
            at=self.resolved_at,
            note=self.resolution_note,
        )


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
            one_of("resolution", RESOLUTIONS, name="settlement_resolution_known"),
        ]
        indexes = [
            models.Index(
                fields=["team", "contradiction", "-settled_at"], name="settlement_by_contradiction"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.resolution} {str(self.pk)[-6:]}"
