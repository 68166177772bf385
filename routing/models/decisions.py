"""Which model was chosen for a query, and why."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from routing.domain.complexity import Tier
from teams.models import Agent, EndUser
from teams.models.base import SameTeamKey, TeamOwned

SCORERS = [("heuristics", "Heuristics"), ("model", "Model")]
OUTCOMES = [
    ("advised", "Advised"),
    ("answered", "Answered"),
    ("cut", "Cut off"),
    ("failed", "Failed"),
]


class RoutingDecision(TeamOwned):
    """One choice, kept without the query's words: `query_hash` is keyed and the team's own.

    `scores` is {dimension: {"score": 0-10, "reason": …}} and `score` their weighted sum. The first
    part is written when the choice is made, `outcome` and what follows it once, after the call:
    until then it is `advised`. `attempts` is [{"model", "provider", "failure"}…] of the models that
    were asked in vain. Costs are USD.
    """

    agent = SameTeamKey(Agent)
    end_user = SameTeamKey(EndUser, null=True, blank=True)
    query_hash = models.CharField(max_length=64)
    scores = models.JSONField()
    score = models.FloatField()
    scorer = models.CharField(max_length=20, choices=SCORERS)
    tier = models.CharField(max_length=20, choices=[(tier.value, tier.value) for tier in Tier])
    model = models.CharField(max_length=200)
    provider = models.CharField(max_length=60)
    reason = models.TextField()
    estimated_usd = models.DecimalField(max_digits=12, decimal_places=6)
    at = models.DateTimeField(default=timezone.now)

    outcome = models.CharField(max_length=20, choices=OUTCOMES, default="advised")
    answered_by = models.CharField(max_length=200, blank=True, default="")
    attempts = models.JSONField(default=list, blank=True)
    cost_usd = models.DecimalField(max_digits=12, decimal_places=6, null=True, blank=True)

    class Meta:
        verbose_name = "routing decision"
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(tier__in=[tier.value for tier in Tier]),
                name="routing_decision_tier_known",
            ),
            models.CheckConstraint(
                condition=models.Q(scorer__in=[name for name, _ in SCORERS]),
                name="routing_decision_scorer_known",
            ),
            models.CheckConstraint(
                condition=models.Q(outcome__in=[name for name, _ in OUTCOMES]),
                name="routing_decision_outcome_known",
            ),
            models.CheckConstraint(
                condition=models.Q(estimated_usd__gte=0), name="routing_decision_estimate_sane"
            ),
        ]
        indexes = [
            models.Index(fields=["team", "-at"], name="routing_decision_by_time"),
            models.Index(fields=["team", "end_user", "-at"], name="routing_decision_by_user"),
        ]

    def __str__(self) -> str:
        return f"{self.tier} {self.model}"
