"""Requests that name an idempotency key, and what was answered."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from .base import SameTeamKey, TeamOwned
from .people import Agent


class IdempotentRequest(TeamOwned):
    """One request under an idempotency key, claimed before it runs.

    Without a `status` it is unfinished: `claim` is the token of the run that may still commit, at
    least until `lease_until`. The first transaction of the request that writes anything sets
    `committed_at`. So for an unfinished request whose run has died it tells what happened: if it
    is empty, nothing was written and the request may run again; otherwise only the answer is lost.
    """

    agent = SameTeamKey(
        Agent, null=True, blank=True, help_text="Whose key it is; keys of the team share theirs."
    )
    key = models.CharField(max_length=200)
    digest = models.BinaryField(max_length=32, help_text="Of method, address and body.")
    claim = models.UUIDField(null=True, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    committed_at = models.DateTimeField(null=True, blank=True)
    status = models.PositiveSmallIntegerField(null=True, blank=True)
    media_type = models.CharField(max_length=100, blank=True, default="")
    body = models.TextField(blank=True, default="")
    made_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["team", "agent", "key"],
                nulls_distinct=False,
                name="idempotent_request_once",
            ),
            models.CheckConstraint(
                condition=models.Q(status__isnull=True) | models.Q(claim__isnull=True),
                name="idempotent_request_finished_once",
            ),
        ]
        indexes = [models.Index(fields=["team", "made_at"], name="idempotent_request_by_age")]

    def __str__(self) -> str:
        return self.key
