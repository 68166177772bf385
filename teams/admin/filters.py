"""Filters that several lists share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from typing import Any, ClassVar

from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest
from django.utils import timezone

from .theme import DateRangeFilter, DropdownFilter


class DaysFilter(DateRangeFilter):
    """A range of days, both included, in the time zone shown on the page."""

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
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


def value_filter(
    column: str,
    values: Sequence[str],
    *,
    name: str = "",
    parameter: str = "",
    titles: Mapping[str, str] | None = None,
) -> type[DropdownFilter]:
    """A filter by one of these values of a column, which would be slow to read from it.

    `titles` are what people call them, where that is not the value itself; `name` is what they call
    the column, and `parameter` what stands in the address.
    """
    named = titles or {}

    class ValueFilter(DropdownFilter):
        title = name or column
        parameter_name = parameter or column

        def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
            # Any: Django's own, generic over the model
            return [
                (value, named.get(value, value.replace("_", " ")).capitalize()) for value in values
            ]

        def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
            chosen = self.value()
            return queryset.filter(**{column: chosen}) if chosen in values else queryset

    return ValueFilter


class OpenFirstFilter(DropdownFilter):
    """A filter whose first choice is the default: the list opens on the rows that need work."""

    # A condition that depends on the time is a function of nothing.
    states: ClassVar[Mapping[str, tuple[str, Q | Callable[[], Q]]]]
    all_option = None

    def lookups(
        self, request: HttpRequest, model_admin: Any
    ) -> list[tuple[str, str]]:  # Any: Django's own, generic over the model
        return [(name, title) for name, (title, _) in self.states.items()]

    def value(self) -> str:
        chosen = super().value() or ""
        return chosen if chosen in self.states else next(iter(self.states))

    def queryset(self, request: HttpRequest, queryset: QuerySet[Model]) -> QuerySet[Model]:
        condition = self.states[self.value()][1]
        return queryset.filter(condition if isinstance(condition, Q) else condition())
