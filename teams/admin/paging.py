"""Pages of lists that hold the rows of several teams, each team's found by its own index."""

from __future__ import annotations

from itertools import chain
from operator import itemgetter
from typing import Any

from django.contrib.postgres.expressions import ArraySubquery
from django.core.exceptions import FieldDoesNotExist
from django.core.paginator import Page, Paginator
from django.db.models import Field, OuterRef, QuerySet

from teams.models import Team

# So many rows at most are looked at for a page; a deeper one is sorted out of all there are.
_MOST_LOOKED_AT = 20_000


class TeamPaginator(Paginator):  # type: ignore[type-arg]  # not generic when it runs
    """Takes the first rows of each team in the list's order, and the page out of these.

    Every index of a team's rows begins with the team. Asked for the first rows of all teams of the
    scope at once, PostgreSQL would read and sort all that they have.
    """

    object_list: QuerySet[Any]  # Any: rows of whatever list it serves

    def page(self, number: int | str) -> Page[Any]:
        """The page of that number, as Django's own."""
        number = self.validate_number(number)
        rows, last = self.object_list, number * self.per_page
        order = _order_of(rows)
        if rows.model is Team or not order or last * Team.objects.count() > _MOST_LOOKED_AT:
            return super().page(number)
        first = _first_of_each_team(rows, [*dict(order), "pk"], last)
        # Sorting keeps the order of equals, so the last key comes first.
        for place, (_, is_reversed) in reversed(list(enumerate(order))):
            first.sort(key=itemgetter(place), reverse=is_reversed)
        shown = [keys[-1] for keys in first[last - self.per_page : last]]
        return Page(rows.filter(pk__in=shown), number, self)


def _order_of(rows: QuerySet[Any]) -> list[tuple[str, bool]]:
    """The columns that the rows are ordered by and whether backwards; none where it is not plain.

    Python and PostgreSQL agree on the order of numbers, times and ids; not on that of words or of
    what is missing.
    """
    found: dict[str, bool] = {}
    for each in rows.query.order_by:
        name = each.removeprefix("-") if isinstance(each, str) else ""
        try:
            field = rows.model._meta.pk if name == "pk" else rows.model._meta.get_field(name)
        except FieldDoesNotExist:
            return []
        if not isinstance(field, Field) or field.null or field.get_internal_type() not in _ORDERED:
            return []
        found.setdefault(field.attname, str(each).startswith("-"))
    return list(found.items())


_ORDERED = {"BigAutoField", "BigIntegerField", "IntegerField", "DateTimeField", "UUIDField"}


def _first_of_each_team(rows: QuerySet[Any], names: list[str], most: int) -> list[tuple[Any, ...]]:
    """These columns of at most so many rows of each team, the first in the list's order."""
    own = rows.filter(team_id=OuterRef("pk"))
    columns = {
        f"column_{place}": ArraySubquery(own.values(name)[:most])
        for place, name in enumerate(names)
    }
    teams = Team.objects.annotate(**columns).values_list(*columns)
    return list(chain.from_iterable(zip(*each, strict=True) for each in teams))
