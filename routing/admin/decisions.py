"""Routing decisions, to read: which model was chosen, why, and what became of it."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from routing.models import RoutingDecision
from teams.admin.base import TeamAdmin, section
from teams.admin.display import excerpt_column, id_column, json_column, label_column, time_column
from teams.admin.filters import DaysFilter
from teams.admin.theme import ChoiceFilter, DropdownFilter, RelatedFilter, display

from .columns import TIER_COLOURS, dollar_column

_OUTCOME_COLOURS = {"answered": "success", "cut": "warning", "failed": "danger", "advised": "info"}


class AttemptsFilter(DropdownFilter):
    """Those where the first model that was asked did not answer."""

    title = "failed attempts"
    parameter_name = "attempts"

    def lookups(
        self, request: HttpRequest, model_admin: Any
    ) -> list[tuple[str, str]]:  # Any: Django's own, generic over the model
        """With failed attempts, or without."""
        return [("failed", "Some"), ("none", "None")]

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[RoutingDecision]
    ) -> QuerySet[RoutingDecision]:
        """Decisions of the choice; all without one."""
        chosen = {"failed": queryset.exclude, "none": queryset.filter}.get(self.value() or "")
        return chosen(attempts=[]) if chosen else queryset


@admin.register(RoutingDecision)
class RoutingDecisionAdmin(TeamAdmin[RoutingDecision]):
    """Every decision, newest first; the words of the query are not kept."""

    list_display = [
        "decided",
        "tier_label",
        "model",
        "score_label",
        "scorer",
        "outcome_label",
        "estimated",
        "cost",
        "agent",
        "beginning",
        "team",
    ]
    list_filter = [
        ("tier", ChoiceFilter),
        ("outcome", ChoiceFilter),
        ("scorer", ChoiceFilter),
        AttemptsFilter,
        ("agent", RelatedFilter),
        ("team", RelatedFilter),
        ("at", DaysFilter),
    ]
    list_select_related = ["team", "agent"]
    ordering = ["-id"]
    search_fields = ["=query_hash"]
    search_help_text = "The digest of a query"
    fieldsets = [
        section(
            None,
            ("decided", "tier_label", "team"),
            ("model", "provider", "reason"),
            ("agent", "person", "query_hash"),
        ),
        section("Score", ("score_label", "scorer"), "scores_document"),
        section(
            "Outcome", ("outcome_label", "answered_by"), ("estimated", "cost"), "attempts_document"
        ),
    ]

    decided = time_column("at", "time", ordering="id")
    tier_label = label_column("tier", "tier", TIER_COLOURS)
    outcome_label = label_column("outcome", "outcome", _OUTCOME_COLOURS)
    estimated = dollar_column("estimated_usd", "estimate in USD")
    cost = dollar_column("cost_usd", "cost in USD")
    beginning = excerpt_column("reason", "reason")
    person = id_column("end_user_id", "teams_enduser", "end user")
    scores_document = json_column("scores", "scores")
    attempts_document = json_column("attempts", "failed attempts")

    @display(description="score", ordering="score")
    def score_label(self, decision: RoutingDecision) -> str:
        """The weighted score, 0 to 10."""
        return f"{decision.score:.1f}"
