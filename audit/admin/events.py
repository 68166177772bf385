"""Operational events, to read: what requests and workers did, and how it went."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from django.contrib import admin
from django.db.models import OuterRef, Q, QuerySet, Subquery
from django.http import HttpRequest
from django.utils import timezone

from audit.models import OperationalEvent
from teams.admin.base import TeamAdmin, section
from teams.admin.display import NOTHING, id_column, json_column, label_column, time_column
from teams.admin.filters import OpenFirstFilter, value_filter
from teams.admin.theme import RelatedFilter, display
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
_STATUS_COLOURS = {"ok": "success", "skipped": "info", "error": "danger"}


def _since(**length: int) -> Callable[[], Q]:
    return lambda: Q(at__gte=timezone.now() - timedelta(**length))


class PeriodFilter(OpenFirstFilter):
    """The last day unless more is asked for: a team may have millions of events."""

    title = "time"
    parameter_name = "time"
    states = {
        "day": ("The last 24 hours", _since(days=1)),
        "week": ("The last 7 days", _since(days=7)),
        "month": ("The last 30 days", _since(days=30)),
        "all": ("All that is kept", Q()),
    }


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
    list_filter = [
        PeriodFilter,
        value_filter("node", NODES),
        value_filter("op", OPS),
        value_filter("status", STATUSES),
        ("team", RelatedFilter),
    ]
    list_select_related = ["team"]
    ordering = ["-at", "-id"]
    fieldsets = [
        section(
            None,
            ("happened", "team"),
            ("node", "op", "status_label"),
            ("memory", "person", "conversation"),
            "best_similarity",
            "figures",
        )
    ]

    happened = time_column("at", "time")
    status_label = label_column("status", "status", _STATUS_COLOURS)
    memory = id_column("memory_id", "memory_memory", "memory")
    conversation = id_column("conversation_id", "teams_conversation", "conversation")
    figures = json_column("meta", "figures")

    def get_queryset(self, request: HttpRequest) -> QuerySet[OperationalEvent]:
        """Each event with the name of whom it concerns."""
        people = EndUser.objects.filter(team_id=OuterRef("team_id"), id=OuterRef("end_user_id"))
        named = Subquery(people.values("external_id")[:1])
        return super().get_queryset(request).annotate(person_name=named)

    @display(description="end user")
    def person(self, event: OperationalEvent) -> str:
        """Whom it concerned."""
        return str(getattr(event, "person_name", None) or NOTHING)

    @display(description="similarity", ordering="similarity")
    def best_similarity(self, event: OperationalEvent) -> str:
        """The cosine of the nearest neighbour, or of the best result."""
        return NOTHING if event.similarity is None else f"{event.similarity:.2f}"
