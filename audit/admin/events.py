"""Operational events, to read: what requests and workers did, and how it went."""

from __future__ import annotations

from collections.abc import Mapping

from django.contrib import admin
from django.db.models import OuterRef, Q, QuerySet, Subquery
from django.http import HttpRequest
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from audit.models import OperationalEvent
from teams.admin.base import TeamAdmin, section
from teams.admin.display import NOTHING, column, id_column, label_column, time_column
from teams.admin.filters import OpenFirstFilter, since, value_filter
from teams.admin.theme import RelatedFilter
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


def _figures(event: OperationalEvent) -> SafeString | str:
    lines = ((key.replace("_", " "), _figure(value)) for key, value in event.meta.items())
    return format_html_join("", '<div class="break-words">{}: {}</div>', lines) or NOTHING


def _named(code: str, words: Mapping[str, str]) -> str:
    return words.get(code, code.replace("_", " "))


class PeriodFilter(OpenFirstFilter):
    """The last day unless more is asked for: a team may have millions of events."""

    title = parameter_name = "time"
    states = {
        "day": ("The last 24 hours", since("at", days=1)),
        "week": ("The last 7 days", since("at", days=7)),
        "month": ("The last 30 days", since("at", days=30)),
        "all": ("All that is kept", Q()),
    }


@admin.register(OperationalEvent)
class OperationalEventAdmin(TeamAdmin[OperationalEvent]):
    """What was done, newest first, for the admins of the team."""

    view_roles = ADMINS
    list_display = ["happened", "where", "what", "status_label", "memory", "person"]
    list_display += ["conversation", "best_similarity", "team"]
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
    where = column("part", lambda event: _named(event.node, _NODE_WORDS), ordering="node")
    what = column("what was done", lambda event: _named(event.op, _OP_WORDS), ordering="op")
    figures = column("figures", _figures)
    person = column("end user", lambda event: event.person_name or NOTHING)
    best_similarity = column(
        "similarity",
        lambda event: NOTHING if event.similarity is None else f"{event.similarity:.2f}",
        ordering="similarity",
    )
    status_label = label_column("status", "status", _STATUS_COLOURS)
    memory = id_column("memory_id", "memory_memory", "memory")
    conversation = id_column("conversation_id", "teams_conversation", "conversation")

    def get_queryset(self, request: HttpRequest) -> QuerySet[OperationalEvent]:
        """Each event with the name of whom it concerns."""
        people = EndUser.objects.filter(team_id=OuterRef("team_id"), id=OuterRef("end_user_id"))
        named = Subquery(people.values("external_id")[:1])
        return super().get_queryset(request).annotate(person_name=named)
