"""The base model of a team's rows, and references between rows of one team."""

from __future__ import annotations

from typing import Any, TypeVar

from django.db import models
from django.db.models.expressions import Col
from django.db.models.lookups import Exact

from teams.ids import new_id

# What may be assigned to a reference, and what it reads as.
_Set = TypeVar("_Set")
_Get = TypeVar("_Get")


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


class _JoinedByTeam(models.ForeignKey[_Set, _Get]):
    """A reference whose joins name the team too, as the database's key does."""

    def get_extra_restriction(self, alias: Any, related_alias: Any) -> Any:  # Any: Django's own
        """Restricts the join to rows of one team; Django passes no alias where it joins nothing."""
        if alias is None or related_alias is None:
            return None
        team: Any = self.model._meta.get_field("team")  # Any: a field of any kind to its type
        return Exact(Col(alias, team), Col(related_alias, team))


class SameTeamKey(_JoinedByTeam[_Set, _Get]):
    """A reference to another row of the same team.

    The database checks it together with the team (`tenancy_sql.tenant_references`), and the rules
    of uniqueness of each table have the indexes that it needs.
    """

    def __init__(
        self, to: Any, on_delete: Any = models.PROTECT, *, null: bool = False, **kwargs: Any
    ) -> None:  # Any: Django's own signature
        kwargs = {"related_name": "+", **kwargs, "db_constraint": False, "db_index": False}
        super().__init__(to, on_delete, null=null, **kwargs)

    def deconstruct(self) -> Any:  # Any: Django's own
        name, _, args, kwargs = super().deconstruct()
        return name, "django.db.models.ForeignKey", args, kwargs


class SameTeamRow(_JoinedByTeam[_Set, _Get], models.OneToOneField[_Set, _Get]):
    """A reference to the row of the same team that this row stands beside."""

    def deconstruct(self) -> Any:  # Any: Django's own
        name, _, args, kwargs = super().deconstruct()
        return name, "django.db.models.OneToOneField", args, kwargs
