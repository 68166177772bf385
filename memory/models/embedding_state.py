"""Which model's vectors the memories have."""

from __future__ import annotations

from django.db import models
from django.utils import timezone


class EmbeddingState(models.Model):
    """The one row of an installation that says whose vectors searches compare; none at first.

    `model` is the active model's name and `dimensions` its vectors' size. `next_model` is the
    model that a reembedding under way goes to: memories written meanwhile get its vector too.
    """

    id = models.PositiveSmallIntegerField(primary_key=True, default=1, editable=False)
    model = models.CharField(max_length=200)
    dimensions = models.PositiveIntegerField()
    next_model = models.CharField(max_length=200, blank=True, default="")
    switched_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=models.Q(id=1), name="embedding_state_once"),
        ]

    def __str__(self) -> str:
        return self.model
