"""What keeps the log honest: its seals, and the erasures that they know of."""

from __future__ import annotations

from django.db import models

from teams.models.base import TeamOwned


class Seal(TeamOwned):
    """One range of a team's log, closed for good: the rows after `after_seq` up to `last_seq`.

    `leaves` holds each row's number (8 bytes), the digest of what outlives an erasure (32) and that
    of the rest (32); `digest` is keyed, by a key outside the database that `key_id` tells apart,
    and covers all of it and the digest of the seal before (audit/services/seals.py). No row up to
    `last_seq` is of a commit after `upto_position`, so reads of the past need not ask it which.
    """

    number = models.PositiveBigIntegerField()
    after_seq = models.BigIntegerField()
    last_seq = models.BigIntegerField()
    rows = models.PositiveIntegerField()
    leaves = models.BinaryField()
    key_id = models.CharField(max_length=16)
    digest = models.BinaryField(max_length=32)
    sealed_at = models.DateTimeField()
    upto_position = models.BigIntegerField(null=True)

    class Meta:
        ordering = ["-number"]
        constraints = [
            models.UniqueConstraint(fields=["team", "number"], name="seal_number_once"),
        ]
        indexes = [models.Index(fields=["team", "upto_position"], name="seal_by_position")]

    def __str__(self) -> str:
        return f"seal {self.number}"


class Erasure(TeamOwned):
    """That a person was erased; written by the erasure itself, in its transaction.

    `counts` says how much of what kind was emptied, and `kept`, the ids of readable memories about
    others that rest on it in part.
    """

    end_user_id = models.UUIDField()
    actor = models.CharField(max_length=200)
    reason = models.TextField(blank=True, default="")
    counts = models.JSONField(default=dict)
    at = models.DateTimeField()

    class Meta:
        ordering = ["-at"]
        constraints = [
            models.UniqueConstraint(fields=["team", "end_user_id"], name="erasure_once"),
        ]

    def __str__(self) -> str:
        return f"erasure {self.end_user_id}"
