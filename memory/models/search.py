"""What a memory is found by, apart from the memory so that a state change never touches it."""

from __future__ import annotations

from django.contrib.postgres.search import SearchVectorField
from django.db import models
from pgvector.django import HalfVectorField

from teams.models import Team

from .memory import Memory


class SearchEntry(models.Model):
    """The vector and the words of one memory; inserted with it, replaced by a re-embedding.

    The vectors have no fixed dimension in the schema: the model beside each says whose it is.
    While a re-embedding is under way an entry has the next model's vector as well.
    """

    memory = models.OneToOneField(
        Memory,
        on_delete=models.PROTECT,
        primary_key=True,
        related_name="search_entry",
        db_constraint=False,
    )
    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="+", db_index=False)
    embedding = HalfVectorField()
    embedding_model = models.CharField(max_length=200)
    next_embedding = HalfVectorField(null=True)
    next_model = models.CharField(max_length=200, blank=True, default="", db_default="")
    lexemes = SearchVectorField()

    class Meta:
        verbose_name_plural = "search entries"

    def __str__(self) -> str:
        return str(self.memory_id)
