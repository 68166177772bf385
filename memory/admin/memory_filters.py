"""Filters of the list of memories alone."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest

from memory.models import Memory
from memory.models.memory import LIVE
from teams.admin.theme import DropdownFilter, TextFilter


class TagFilter(TextFilter):
    """By one whole tag."""

    title = "tag"
    parameter_name = "tag"

    def queryset(self, request: HttpRequest, queryset: QuerySet[Memory]) -> QuerySet[Memory]:
        """Memories that carry the tag."""
        tag = (self.value() or "").strip()
        return queryset.filter(tag_rows__name=tag) if tag else queryset


class StandingFilter(DropdownFilter):
    """What agents may be shown, or what they are not shown any more."""

    title = "standing"
    parameter_name = "standing"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Live ones or the others."""  # Any: Django's own, generic over the model
        return [("live", "Live: active or disputed"), ("gone", "Not shown to agents any more")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Memory]) -> QuerySet[Memory]:
        """Memories of the choice; all without one."""
        chosen = {"live": queryset.filter, "gone": queryset.exclude}.get(self.value() or "")
        return chosen(status__in=LIVE) if chosen else queryset
