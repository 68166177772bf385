"""Filters that several lists share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date, datetime, time, timedelta
from typing import Any, ClassVar

from django.contrib.admin.views.main import ChangeList
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest
from django.utils import timezone

from .theme import DateRangeFilter, DropdownFilter


class DaysFilter(DateRangeFilter):
    """From one day to another in the zone that the page names, both included."""

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Rows of these days; a day that is none is ignored."""
        del request
        first, last = self._day("from"), self._day("to")
        if first is not None:
            queryset = queryset.filter(**{f"{self.field_path}__gte": first})
        if last is not None:
            queryset = queryset.filter(**{f"{self.field_path}__lt": last + timedelta(days=1)})
        return queryset

    def _day(self, end: str) -> datetime | None:
        typed = self.used_parameters.get(f"{self.field_path}_{end}")
        try:
            return datetime.combine(
                date.fromisoformat(str(typed)), time(), timezone.get_current_timezone()
            )
        except ValueError:
            return None


class OpenFirstFilter(DropdownFilter):
    """A filter whose first choice holds until another one is made: the work that waits."""

    states: ClassVar[Mapping[str, tuple[str, Q]]]
    all_option = None

    def lookups(
        self, request: HttpRequest, model_admin: Any
    ) -> list[tuple[str, str]]:  # Any: Django's own, generic over the model
        """The choices in the order of `states`."""
        del request, model_admin
        return [(name, title) for name, (title, _) in self.states.items()]

    def value(self) -> str:
        """The choice made, or the first one."""
        chosen = super().value() or ""
        return chosen if chosen in self.states else next(iter(self.states))

    def queryset(self, request: HttpRequest, queryset: QuerySet[Model]) -> QuerySet[Model]:
        """Rows of the choice."""
        del request
        return queryset.filter(self.states[self.value()][1])

    def choices(self, changelist: ChangeList) -> Iterator[Any]:
        """The choices as the theme's template wants them."""
        yield from super().choices(changelist)
