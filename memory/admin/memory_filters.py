"""What the list of memories can be narrowed to, beside the columns that every list filters by."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, ClassVar

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import HttpRequest
from django.utils import timezone

from memory.models import Category, Memory, MemoryUsage
from memory.models.memory import LIVE
from memory.writing.windows import TEAM_FACT
from teams.admin.theme import DropdownFilter, TextFilter

# A team with more has a vocabulary that nobody picks from a list.
_MOST_CATEGORIES = 100
_OFTEN = 10

# Any, in this module: Django's own, generic over the model.


class TagFilter(TextFilter):
    """By one whole tag."""

    title = "tag"
    parameter_name = "tag"

    def queryset(self, request: HttpRequest, queryset: QuerySet[Memory]) -> QuerySet[Memory]:
        """Memories that carry the tag."""
        tag = (self.value() or "").strip()
        return queryset.filter(tag_rows__name=tag) if tag else queryset


class CategoryFilter(DropdownFilter):
    """By a category of the team's vocabulary."""

    title = "category"
    parameter_name = "category"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """The categories of the login's teams, and those in none."""
        names = Category.objects.order_by("name").values_list("name", flat=True).distinct()
        return [("-", "None"), *((name, name) for name in names[:_MOST_CATEGORIES])]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Memory]) -> QuerySet[Memory]:
        """Memories in the category."""
        chosen = self.value()
        return queryset.filter(category="" if chosen == "-" else chosen) if chosen else queryset


class TeamFactFilter(DropdownFilter):
    """What talk told of the team, where the team wants to be asked before everybody knows it."""

    title = "said of the team"
    parameter_name = "team_fact"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Those that nobody gave to the team yet, or those that were."""
        return [("waiting", "Waiting for a yes"), ("given", "Given to the team")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Memory]) -> QuerySet[Memory]:
        """Memories of the choice; all without one."""
        if self.value() not in ("waiting", "given"):
            return queryset
        is_given = self.value() == "given"
        told = queryset.filter(tag_rows__name=TEAM_FACT, end_user__isnull=is_given)
        return told.filter(status__in=LIVE)


class ChoiceOfConditions(DropdownFilter):
    """A choice between conditions, each under its name in the address; all rows without one."""

    conditions: ClassVar[Mapping[str, tuple[str, Callable[[], Q]]]]

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """The choices in their order."""
        return [(name, title) for name, (title, _) in self.conditions.items()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Memory]) -> QuerySet[Memory]:
        """Memories of the choice."""
        chosen = self.conditions.get(self.value() or "")
        return queryset.filter(chosen[1]()) if chosen else queryset


def _created(**length: int) -> Callable[[], Q]:
    return lambda: Q(created_at__gte=timezone.now() - timedelta(**length))


def _before(**length: int) -> Callable[[], Q]:
    return lambda: Q(created_at__lt=timezone.now() - timedelta(**length))


def _used(*conditions: Q, **figures: object) -> Exists:
    # Not by a join: of a join that may find nothing the planner knows too little, and makes all of
    # it for one page.
    of_it = MemoryUsage.objects.filter(team_id=OuterRef("team_id"), memory_id=OuterRef("pk"))
    return Exists(of_it.filter(*conditions, **figures))


def _read_within(days: int) -> Q:
    return Q(last_accessed_at__gte=timezone.now() - timedelta(days=days))


class StandingFilter(ChoiceOfConditions):
    """What agents may be shown, or what they are not shown any more."""

    title = "shown to agents"
    parameter_name = "standing"
    conditions = {
        "live": ("Yes: active or disputed", lambda: Q(status__in=LIVE)),
        "gone": ("No", lambda: ~Q(status__in=LIVE)),
    }


class AgeFilter(ChoiceOfConditions):
    """By how long ago it was stored."""

    title = "age"
    parameter_name = "age"
    conditions = {
        "day": ("Up to a day", _created(days=1)),
        "week": ("Up to a week", _created(days=7)),
        "month": ("Up to 30 days", _created(days=30)),
        "old": ("Over 30 days", _before(days=30)),
        "older": ("Over 180 days", _before(days=180)),
    }


class UseFilter(ChoiceOfConditions):
    """By how often answers had it, and when last."""

    title = "use"
    parameter_name = "use"
    conditions = {
        "never": ("Never", lambda: ~Q(_used(retrieved__gt=0))),
        "often": (f"{_OFTEN} times or more", lambda: Q(_used(retrieved__gte=_OFTEN))),
        "week": ("In the last 7 days", lambda: Q(_used(_read_within(7)))),
        "unused": (
            "Not in the last 30 days",
            lambda: Q(_used(~_read_within(30), retrieved__gt=0)),
        ),
    }
