"""Routing decisions, to read: which model was chosen, why, and what became of it."""

from __future__ import annotations

from django.contrib import admin

from routing.models import RoutingDecision
from teams.admin.base import TeamAdmin
from teams.admin.display import NOTHING, as_json, excerpt, id_link, moment
from teams.admin.filters import DaysFilter
from teams.admin.theme import ChoiceFilter, RelatedFilter, display

from .colours import TIER_COLOURS

_OUTCOME_COLOURS = {"answered": "success", "cut": "warning", "failed": "danger", "advised": "info"}


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
        ("agent", RelatedFilter),
        ("team", RelatedFilter),
        ("at", DaysFilter),
    ]
    list_select_related = ["team", "agent"]
    ordering = ["-id"]
    search_fields = ["=query_hash"]
    search_help_text = "The digest of a query"
    fieldsets = [
        (
            None,
            {
                "fields": [
                    ("decided", "tier_label", "team"),
                    ("model", "provider", "reason"),
                    ("agent", "person", "query_hash"),
                ]
            },
        ),
        ("Score", {"fields": [("score_label", "scorer"), "scores_document"]}),
        (
            "What became of it",
            {
                "fields": [
                    ("outcome_label", "answered_by"),
                    ("estimated", "cost"),
                    "attempts_document",
                ]
            },
        ),
    ]

    @display(description="time", ordering="id")
    def decided(self, decision: RoutingDecision) -> str:
        """When it was made."""
        return moment(decision.at)

    @display(description="tier", ordering="tier", label=TIER_COLOURS)
    def tier_label(self, decision: RoutingDecision) -> str:
        """The tier chosen, coloured."""
        return decision.tier

    @display(description="score", ordering="score")
    def score_label(self, decision: RoutingDecision) -> str:
        """The weighted score, 0 to 10."""
        return f"{decision.score:.1f}"

    @display(description="outcome", ordering="outcome", label=_OUTCOME_COLOURS)
    def outcome_label(self, decision: RoutingDecision) -> str:
        """What became of it; advised where no model was called."""
        return decision.outcome

    @display(description="estimate in USD", ordering="estimated_usd")
    def estimated(self, decision: RoutingDecision) -> str:
        """What it was expected to cost."""
        return f"{decision.estimated_usd:f}"

    @display(description="cost in USD", ordering="cost_usd")
    def cost(self, decision: RoutingDecision) -> str:
        """What it cost."""
        return NOTHING if decision.cost_usd is None else f"{decision.cost_usd:f}"

    @display(description="reason")
    def beginning(self, decision: RoutingDecision) -> str:
        """The beginning of the reason."""
        return excerpt(decision.reason)

    @display(description="end user")
    def person(self, decision: RoutingDecision) -> str:
        """Whom the answer was for."""
        return id_link("teams_enduser", decision.end_user_id)

    @display(description="scores")
    def scores_document(self, decision: RoutingDecision) -> str:
        """The five dimensions with their reasons."""
        return as_json(decision.scores)

    @display(description="asked in vain")
    def attempts_document(self, decision: RoutingDecision) -> str:
        """The models that did not answer, and why."""
        return as_json(decision.attempts)
