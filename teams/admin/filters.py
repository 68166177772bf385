"""Filters that several lists share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from typing import Any, ClassVar

from django.db.models import DateTimeField, Model, Q, QuerySet
from django.http import HttpRequest
from django.utils import timezone

from .theme import DateRangeFilter, DropdownFilter

# By name in the address, the title and the condition; one that depends on the time is a function.
States = Mapping[str, tuple[str, Q | Callable[[], Q]]]


# The second one of the hour that is repeated when clocks go back at midnight.
_DAYS_END = time.max.replace(fold=1)


class DaysFilter(DateRangeFilter):
    """A range of days, both included, in the time zone shown on the page."""

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        zone = timezone.get_current_timezone()
        for end, lookup, clock in (("from", "gte", time.min), ("to", "lte", _DAYS_END)):
            try:
                day = date.fromisoformat(str(self.used_parameters.get(f"{self.field_path}_{end}")))
            except ValueError:
                continue
            has_time = isinstance(self.field, DateTimeField)
            value = datetime.combine(day, clock, zone) if has_time else day
            queryset = queryset.filter(**{f"{self.field_path}__{lookup}": value})
        return queryset


class ConditionFilter(DropdownFilter):
    """A choice between conditions, each under its name in the address; all rows without one."""

    states: ClassVar[States]

    def lookups(
        self, request: HttpRequest, model_admin: Any
    ) -> list[tuple[str, str]]:  # Any: Django's own, generic over the model
        return [(name, title) for name, (title, _) in self.states.items()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Model]) -> QuerySet[Model]:
        if (chosen := self.value() or "") not in self.states:
            return queryset
        condition = self.states[chosen][1]
        return queryset.filter(condition if isinstance(condition, Q) else condition())


class OpenFirstFilter(ConditionFilter):
    """A filter whose first choice is the default: the list opens on the rows that need work."""

    all_option = None

    def value(self) -> str:
        chosen = super().value() or ""
        return chosen if chosen in self.states else next(iter(self.states))


def condition_filter(
    title: str, states: States, *, parameter: str = "", opens_first: bool = False
) -> type[ConditionFilter]:
    """A filter by these conditions; `parameter` is its name in the address, if not the title.

    With `opens_first` the first choice is the default.
    """
    values = {"title": title, "parameter_name": parameter or title, "states": states}
    base = OpenFirstFilter if opens_first else ConditionFilter
    return type("Filter", (base,), values)


def value_filter(
    column: str,
    values: Sequence[str],
    *,
    name: str = "",
    parameter: str = "",
    titles: Mapping[str, str] | None = None,
) -> type[ConditionFilter]:
    """A filter by one of these values of a column, which would be slow to read from it.

    `titles` are what people call them, where that is not the value itself; `name` is what they call
    the column, and `parameter` what stands in the address.
    """
    words = {value: (titles or {}).get(value, value.replace("_", " ")) for value in values}
    states = {value: (said.capitalize(), Q(**{column: value})) for value, said in words.items()}
    return condition_filter(name or column, states, parameter=parameter or column)


def since(field: str, **length: float) -> Callable[[], Q]:
    """The condition that a time is within the last `length`, as for a timedelta."""
    return lambda: Q(**{f"{field}__gte": timezone.now() - timedelta(**length)})
