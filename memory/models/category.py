"""The team's own vocabulary for what memories are about (seed 004, §5)."""

from __future__ import annotations

from django.core.validators import MinValueValidator
from django.db import models

from teams.models.base import TeamOwned

NAME_CHARS = 100
DESCRIPTION_CHARS = 500


class Category(TeamOwned):
    """A word of the team's vocabulary; memories name it as text, so it may go without them.

    `length` is how many of its memories one answer holds at most; None means as many as fit.
    """

    class Context(models.TextChoices):
        ALL = "all", "All: every one of its memories goes into an answer that asks for it"
        RAG = "rag", "RAG: only what the question finds"

    name = models.CharField(max_length=NAME_CHARS)
    description = models.CharField(max_length=DESCRIPTION_CHARS, blank=True, default="")
    context = models.CharField(max_length=10, choices=Context.choices, default=Context.RAG)
    length = models.PositiveIntegerField(
        null=True,
        blank=True,
        validators=[MinValueValidator(1)],
        help_text="How many of its memories one answer holds at most; empty for no limit.",
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name_plural = "categories"
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["team", "name"], name="category_name_once"),
            models.CheckConstraint(condition=~models.Q(name=""), name="category_name_not_empty"),
            models.CheckConstraint(
                condition=models.Q(context__in=["all", "rag"]), name="category_context_known"
            ),
            models.CheckConstraint(
                condition=models.Q(length__isnull=True) | models.Q(length__gte=1),
                name="category_length_positive",
            ),
        ]

    def __str__(self) -> str:
        return self.name
