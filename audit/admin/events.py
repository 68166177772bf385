"""Operational events, to read: what requests and workers did, and how it went."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from django.contrib import admin
from django.db.models import OuterRef, Q, QuerySet, Subquery
from django.http import HttpRequest
from django.utils import timezone
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from audit.models import OperationalEvent
from teams.admin.base import TeamAdmin, section
from teams.admin.display import NOTHING, id_column, label_column, time_column
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
    "consolidate",
)
STATUSES = ("ok", "skipped", "error")
_NODE_WORDS = {"hotpath": "reads", "context": "prompts", "write": "writes", "worker": "jobs"}
_OP_WORDS = {
    "context": "build a prompt",
    "route": "choose a model",
    "mask_secret": "mask a secret",
    "stand_in": "stand in for a model",
}
_STATUS_COLOURS = {"ok": "success", "skipped": "info", "error": "danger"}


def _figure(value: object) -> str:
    """A figure, or several of them, as people read it."""
    if isinstance(value, dict):
        parts = (f"{str(key).replace('_', ' ')} {_figure(each)}" for key, each in value.items())
        return ", ".join(parts) or NOTHING
    if isinstance(value, list):
        return ", ".join(_figure(each) for each in value) or NOTHING
    return NOTHING if value is None else str(value).replace("_", " ")


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
        "where",
        "what",
        "status_label",
        "memory",
        "person",
        "conversation",
        "best_similarity",
        "team",
    ]
    list_filter = [
        PeriodFilter,
        value_filter("node", NODES, titles=_NODE_WORDS),
        value_filter("op", OPS, titles=_OP_WORDS),
        value_filter("status", STATUSES),
        ("team", RelatedFilter),
    ]
    list_select_related = ["team"]
    ordering = ["-at", "-id"]
    fieldsets = [
        section(
            None,
            ("happened", "team"),
            ("where", "what", "status_label"),
            ("memory", "person", "conversation"),
            "best_similarity",
            "figures",
        )
    ]

    happened = time_column("at", "time")
    status_label = label_column("status", "status", _STATUS_COLOURS)
    memory = id_column("memory_id", "memory_memory", "memory")
    conversation = id_column("conversation_id", "teams_conversation", "conversation")

    def get_queryset(self, request: HttpRequest) -> QuerySet[OperationalEvent]:
        """Each event with the name of whom it concerns."""
        people = EndUser.objects.filter(team_id=OuterRef("team_id"), id=OuterRef("end_user_id"))
        named = Subquery(people.values("external_id")[:1])
        return super().get_queryset(request).annotate(person_name=named)

    @display(description="part", ordering="node")
    def where(self, event: OperationalEvent) -> str:
        """The part of the product that did it."""
        return _NODE_WORDS.get(event.node, event.node.replace("_", " "))

    @display(description="what was done", ordering="op")
    def what(self, event: OperationalEvent) -> str:
        """What it did."""
        return _OP_WORDS.get(event.op, event.op.replace("_", " "))

    @display(description="figures")
    def figures(self, event: OperationalEvent) -> SafeString | str:
        """Its counts, times and reasons, a line each."""
        lines = [(key.replace("_", " "), _figure(value)) for key, value in event.meta.items()]
        return format_html_join("", '<div class="break-words">{}: {}</div>', lines) or NOTHING

    @display(description="end user")
    def person(self, event: OperationalEvent) -> str:
        """Whom it concerned."""
        return str(getattr(event, "person_name", None) or NOTHING)

    @display(description="similarity", ordering="similarity")
    def best_similarity(self, event: OperationalEvent) -> str:
        """The cosine of the nearest neighbour, or of the best result."""
        return NOTHING if event.similarity is None else f"{event.similarity:.2f}"
