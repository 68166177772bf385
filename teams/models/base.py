"""What every row of a team has in common."""

from __future__ import annotations

from django.db import models

from teams.ids import new_id


class TeamOwned(models.Model):
    """A row that belongs to one team.

    The database key is (team, id): migrations replace Django's single-column key by
    `tenancy_sql.tenant_table`, and references between such rows carry the team too, so that no
    row can point into another team. Django's own single-column references are therefore off.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    team = models.ForeignKey(
        "teams.Team", on_delete=models.PROTECT, related_name="+", db_index=False
    )

    class Meta:
        abstract = True
