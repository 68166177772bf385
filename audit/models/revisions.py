"""How often a team's memories changed."""

from __future__ import annotations

from django.db import models

from teams.ids import new_id
from teams.models import Team


class TeamRevision(models.Model):
    """A part of a team's revision, which is the sums over its rows (audit/sql/team_revision.sql).

    `memories` counts the transactions that changed what its answers are made of, `messages` those
    that changed its messages. The database writes it and nobody else.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="+", db_index=False)
    memories = models.BigIntegerField()
    messages = models.BigIntegerField()

    class Meta:
        verbose_name = "team revision"

    def __str__(self) -> str:
        return f"{self.memories}, {self.messages}"
