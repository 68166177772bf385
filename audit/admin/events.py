"""Operational events, to read: what requests and workers did, and how it went."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import OuterRef, QuerySet, Subquery
from django.http import HttpRequest
from django.utils import timezone

from audit.models import OperationalEvent
from teams.admin.base import TeamAdmin
from teams.admin.display import NOTHING, as_json, id_link, moment
from teams.admin.theme import DropdownFilter, RelatedFilter, display
from teams.admin_permissions import ADMINS
from teams.models import EndUser

# Those that this version leaves; a list of the distinct ones would read every event.
NODES = ("hotpath", "context", "worker", "extract", "compact", "write", "erasure")
OPS = (
    "search",
    "context",
    "chat",
    "route",
    "create",
    "update",
    "merge",
    "delete",
    "extract",
    "validate",
    "mask_secret",
    "stand_in",
    "erase",
)
STATUSES = ("ok", "skipped", "error")


class PeriodFilter(DropdownFilter):
    """The last day unless more is asked for: a team may have millions of events."""

    title = "time"
    parameter_name = "time"
    all_option = None
    periods: ClassVar[Mapping[str, tuple[str, timedelta]]] = {
        "day": ("The last 24 hours", timedelta(days=1)),
        "week": ("The last 7 days", timedelta(days=7)),
        "month": ("The last 30 days", timedelta(days=30)),
        "all": ("All that is kept", timedelta()),
    }

    def lookups(
        self, request: HttpRequest, model_admin: Any
    ) -> list[tuple[str, str]]:  # Any: Django's own, generic over the model
        """The periods, the shortest first."""
        del request, model_admin
        return [(name, title) for name, (title, _) in self.periods.items()]

    def value(self) -> str:
        """The choice made, or the last day."""
        chosen = super().value() or ""
        return chosen if chosen in self.periods else "day"

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[OperationalEvent]
    ) -> QuerySet[OperationalEvent]:
        """Events of the period."""
        del request
        length = self.periods[self.value()][1]
        return queryset.filter(at__gte=timezone.now() - length) if length else queryset


class _ValueFilter(DropdownFilter):
    """One of some known values of the column that the parameter names."""

    values: ClassVar[Sequence[str]]

    def lookups(
        self, request: HttpRequest, model_admin: Any
    ) -> list[tuple[str, str]]:  # Any: as above
        """The values as they stand."""
        del request, model_admin
        return [(value, value.replace("_", " ")) for value in self.values]

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[OperationalEvent]
    ) -> QuerySet[OperationalEvent]:
        """Events with the chosen value."""
        del request
        chosen = self.value()
        return queryset.filter(**{str(self.parameter_name): chosen}) if chosen else queryset


class NodeFilter(_ValueFilter):
    """By where it was done."""

    title = parameter_name = "node"
    values = NODES


class OpFilter(_ValueFilter):
    """By what was done."""

    title = parameter_name = "op"
    values = OPS


class StatusFilter(_ValueFilter):
    """By how it went."""

    title = parameter_name = "status"
    values = STATUSES


@admin.register(OperationalEvent)
class OperationalEventAdmin(TeamAdmin[OperationalEvent]):
    """What was done, newest first, for the admins of the team."""

    view_roles = ADMINS
    list_display = [
        "happened",
        "node",
        "op",
        "status_label",
        "memory",
        "person",
        "conversation",
        "best_similarity",
        "team",
    ]
    list_filter = [PeriodFilter, NodeFilter, OpFilter, StatusFilter, ("team", RelatedFilter)]
    list_select_related = ["team"]
    ordering = ["-at", "-id"]
    fieldsets = [
        (
            None,
            {
                "fields": [
                    ("happened", "team"),
                    ("node", "op", "status_label"),
                    ("memory", "person", "conversation"),
                    "best_similarity",
                    "figures",
                ]
            },
        )
    ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[OperationalEvent]:
        """Each event with the name of whom it concerns."""
        people = EndUser.objects.filter(team_id=OuterRef("team_id"), id=OuterRef("end_user_id"))
        named = Subquery(people.values("external_id")[:1])
        return super().get_queryset(request).annotate(person_name=named)

    @display(description="time", ordering="at")
    def happened(self, event: OperationalEvent) -> str:
        """When it was done."""
        return moment(event.at)

    @display(
        description="status",
        ordering="status",
        label={"ok": "success", "skipped": "info", "error": "danger"},
    )
    def status_label(self, event: OperationalEvent) -> str:
        """How it went, coloured."""
        return event.status

    @display(description="memory")
    def memory(self, event: OperationalEvent) -> str:
        """The memory that it concerned."""
        return id_link("memory_memory", event.memory_id)

    @display(description="end user")
    def person(self, event: OperationalEvent) -> str:
        """Whom it concerned."""
        return str(getattr(event, "person_name", None) or NOTHING)

    @display(description="conversation")
    def conversation(self, event: OperationalEvent) -> str:
        """Where it was asked for."""
        return id_link("teams_conversation", event.conversation_id)

    @display(description="similarity", ordering="similarity")
    def best_similarity(self, event: OperationalEvent) -> str:
        """The cosine of the nearest neighbour, or of the best result."""
        return NOTHING if event.similarity is None else f"{event.similarity:.2f}"

    @display(description="figures")
    def figures(self, event: OperationalEvent) -> str:
        """Figures and reasons; no event holds contents."""
        return as_json(event.meta)
