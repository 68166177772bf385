"""Imports of files from other systems, and what of them waits to be written."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now

from teams.models.base import SameTeamKey, TeamOwned


class ImportRun(TeamOwned):
    """One file on its way into a team's memory.

    It was read and checked whole before the row was made. `total` items are written batch by batch:
    `done` of them are, `new` of which were not there before, and `failed` could not be, for which
    `errors` names the places of the first.
    """

    class State(models.TextChoices):
        QUEUED = "queued", "Queued"
        RUNNING = "running", "Running"
        DONE = "done", "Done"
        FAILED = "failed", "Failed"
        CANCELLED = "cancelled", "Cancelled"

    format = models.CharField(max_length=20)
    does_extract = models.BooleanField("memories are extracted", default=True)
    actor = models.CharField(max_length=200)
    state = models.CharField(max_length=20, choices=State.choices, default=State.QUEUED)
    total = models.PositiveIntegerField(default=0)
    done = models.PositiveIntegerField(default=0)
    new = models.PositiveIntegerField(default=0)
    failed = models.PositiveIntegerField(default=0)
    errors = models.JSONField(default=list, blank=True)
    attempts = models.PositiveIntegerField(default=0)
    due_at = models.DateTimeField(db_default=Now())
    created_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        db_table = "memory_importrun"
        verbose_name = "import"
        ordering = ["-id"]
        indexes = [
            models.Index(
                fields=["team", "due_at"],
                condition=models.Q(state__in=["queued", "running"]),
                name="import_unfinished",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.format} import {str(self.pk)[-6:]}"


class ImportBatch(TeamOwned):
    """Items of an import that are still to be written, in their order; gone once they are.

    Those of one batch are messages, or memories. `users` are the external ids
    of the people that they belong to; an erasure takes out what is theirs.
    """

    run = SameTeamKey(ImportRun, related_name="batches")
    number = models.PositiveIntegerField()
    items = models.JSONField()
    users = ArrayField(models.CharField(max_length=200), default=list)

    class Meta:
        db_table = "memory_importbatch"
        ordering = ["run", "number"]
        constraints = [
            models.UniqueConstraint(fields=["team", "run", "number"], name="import_batch_once"),
        ]

    def __str__(self) -> str:
        return f"{self.number}"
