"""Pages of lists that hold the rows of several teams, each team's found by its own index."""

from __future__ import annotations

from itertools import chain
from typing import Any

from django.contrib.postgres.expressions import ArraySubquery
from django.core.paginator import Page, Paginator
from django.db.models import OuterRef, QuerySet

from teams.models import Team

# So many rows at most are looked at for a page; a deeper one is sorted out of all there are.
_MOST_LOOKED_AT = 20_000


class TeamPaginator(Paginator):  # type: ignore[type-arg]  # not generic when it runs
    """Reads the first rows of each team by its index, and takes the page from these.

    Every index of team rows begins with the team: asked for the first rows of several teams at
    once, PostgreSQL would read and sort all their rows.
    """

    object_list: QuerySet[Any]  # Any: rows of whatever list it serves

    def page(self, number: int | str) -> Page[Any]:
        """The page of that number, as Django's own."""
        number = self.validate_number(number)
        rows, last = self.object_list, number * self.per_page
        if rows.model is Team or last * Team.objects.count() > _MOST_LOOKED_AT:
            return super().page(number)
        own = rows.filter(team_id=OuterRef("pk")).values("pk")[:last]
        of_teams = Team.objects.annotate(first=ArraySubquery(own)).values_list("first", flat=True)
        first = rows.filter(pk__in=list(chain.from_iterable(of_teams)))
        return Page(first[last - self.per_page : last], number, self)
