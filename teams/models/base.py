"""The base model of a team's rows, and references between rows of one team."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from django.conf import settings
from django.db import models
from django.db.models.expressions import Col
from django.db.models.lookups import Exact

from teams.ids import new_id

# What may be assigned to a reference, and what it reads as.
_Set = TypeVar("_Set")
_Get = TypeVar("_Get")


def _placeholder(*_: object) -> str:
    return "%s"


class TeamKey(models.ForeignKey[_Set, _Get]):
    """The reference of a row to its team."""

    def __init__(self, to: Any = "teams.Team", on_delete: Any = models.PROTECT, **kwargs: Any):
        super().__init__(to, on_delete, **{"related_name": "+", "db_index": False, **kwargs})

    @property
    def get_placeholder(self) -> Callable[[Any, Any, Any], str]:  # Any: Django's own
        """Makes Django insert several rows as VALUES, not from UNNEST, where they are distributed.

        Citus copies what comes from a function, which PostgreSQL refuses below row-level security.
        """
        if not settings.DATABASE_DISTRIBUTED:
            raise AttributeError("get_placeholder")
        return _placeholder

    def deconstruct(self) -> Any:  # Any: Django's own
        name, _, args, kwargs = super().deconstruct()
        return name, "django.db.models.ForeignKey", args, kwargs


class OfTeam(models.Model):
    """A row of a team, which Django's statements for one row name, as the database's key does."""

    team_id: Any  # of the subclass's reference

    class Meta:
        abstract = True

    def refresh_from_db(
        self,
        using: str | None = None,
        fields: Iterable[str] | None = None,
        from_queryset: models.QuerySet[Any] | None = None,  # Any: of this model
    ) -> None:
        """As Django's, with the team in the statement if it is loaded; loads deferred fields."""
        rows: Any = from_queryset  # Any: of a model with a team
        if rows is None:
            rows = type(self)._base_manager.db_manager(using)
        if "team_id" in self.__dict__:
            rows = rows.filter(team_id=self.team_id)
        super().refresh_from_db(using, fields, rows)

    def _do_update(
        self,
        base_qs: models.QuerySet[Any],
        using: str | None,
        pk_val: Any,
        values: Iterable[tuple[Any, Any, Any]],
        *args: Any,
    ) -> Any:  # Any: Django's own signature
        """As Django's, which `save` calls, with the team in the condition: it never changes."""
        rest = [each for each in values if each[0].attname != "team_id"]
        return super()._do_update(base_qs.filter(team_id=self.team_id), using, pk_val, rest, *args)


class TeamOwned(OfTeam):
    """A row that belongs to one team.

    The database key is (team, id): migrations replace Django's single-column key by
    `tenancy_sql.tenant_table`, and references between such rows carry the team too, so that no
    row can point into another team. Django's own single-column references are therefore off.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    team: TeamKey[Any, Any] = TeamKey()

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
