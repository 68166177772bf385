"""Pages of lists of team rows."""

from __future__ import annotations

from itertools import chain
from typing import Any

from django.contrib.postgres.expressions import ArraySubquery
from django.core.paginator import Page, Paginator
from django.db.models import OuterRef, QuerySet
from django.utils.functional import cached_property

from teams.models import Team

# So many rows at most are looked at for a page; a deeper one is sorted out of all there are.
_MOST_LOOKED_AT = 20_000


class TeamPaginator(Paginator):  # type: ignore[type-arg]  # not generic when it runs
    """Reads the first rows of each team by its index, and takes the page from these.

    Every index of team rows begins with the team: asked for the first rows of several teams at
    once, PostgreSQL would read and sort all their rows. Where the first page is asked for and there
    is no second one, its rows are their number too: few among many are looked for only once.
    """

    object_list: QuerySet[Any]  # Any: rows of whatever list it serves
    is_first_page = False

    @cached_property
    def count(self) -> int:
        """How many rows there are."""
        if self._begins and all(len(keys) <= self.per_page for keys in self._first_keys):
            return sum(map(len, self._first_keys))
        counted: int = self.object_list.order_by().count()
        return counted

    def page(self, number: int | str) -> Page[Any]:
        """The page of that number, as Django's own."""
        number = self.validate_number(number)
        rows, last = self.object_list, number * self.per_page
        first = last - self.per_page
        if not self._is_of_teams:
            return super().page(number)
        if number == 1 and self._begins:
            keys = list(chain.from_iterable(self._first_keys))
            return Page(rows.filter(pk__in=keys)[:last], number, self)
        if self._teams == 1:
            # Nothing is merged with another team's rows, so those before the page are passed over.
            keys = list(chain.from_iterable(self._keys_of_teams(first, last)))
        elif last * self._teams > _MOST_LOOKED_AT:
            # All of them are sorted, but without what is read beside each.
            keys = list(rows.values_list("pk", flat=True)[first:last])
        else:
            keys = list(chain.from_iterable(self._keys_of_teams(0, last)))
            return Page(rows.filter(pk__in=keys)[first:last], number, self)
        return Page(rows.filter(pk__in=keys)[: self.per_page], number, self)

    @cached_property
    def _is_of_teams(self) -> bool:
        """Whether its rows belong to teams; teams, and Django's own history of a row, do not."""
        return any(field.name == "team" for field in self.object_list.model._meta.fields)

    @cached_property
    def _teams(self) -> int:
        return Team.objects.count()

    @property
    def _begins(self) -> bool:
        """Whether the first page is asked for, of not too many teams."""
        is_asked_for = self.is_first_page and self._is_of_teams
        return is_asked_for and (self.per_page + 1) * self._teams <= _MOST_LOOKED_AT

    @cached_property
    def _first_keys(self) -> list[list[Any]]:
        """Of each team the keys of its first page and of one row more."""
        return self._keys_of_teams(0, self.per_page + 1)

    def _keys_of_teams(self, first: int, last: int) -> list[list[Any]]:
        """Of each team the keys of the rows from `first` to before `last`."""
        own = self.object_list.filter(team_id=OuterRef("pk")).values("pk")[first:last]
        of_teams = Team.objects.annotate(keys=ArraySubquery(own))
        return list(of_teams.values_list("keys", flat=True))
