"""What models cost, to read: every settled call, and the sums by day and month."""

from __future__ import annotations

from django.contrib import admin

from routing.models import SpendEntry, SpendTotal
from teams.admin.base import TeamAdmin
from teams.admin.columns import time_column
from teams.admin.display import NOTHING, link, page_of
from teams.admin.filters import DaysFilter
from teams.admin.theme import ChoiceFilter, RelatedFilter, display

from .columns import dollar_column


@admin.register(SpendEntry)
class SpendEntryAdmin(TeamAdmin[SpendEntry]):
    """Every settled call, newest first."""

    list_display = [
        "settled",
        "cost",
        "model",
        "tier",
        "tokens",
        "agent_link",
        "person",
        "day",
        "team",
    ]
    list_filter = [
        ("agent", RelatedFilter),
        ("team", RelatedFilter),
        ("at", DaysFilter),
    ]
    list_select_related = ["team", "agent", "end_user"]
    ordering = ["-id"]
    search_fields = ["=model", "=end_user__external_id"]
    search_help_text = "The name of a model or the external id of an end user"
    fieldsets = [
        (
            None,
            {
                "fields": [
                    ("settled", "cost", "team"),
                    ("model", "tier"),
                    ("input_tokens", "output_tokens"),
                    ("agent_link", "person"),
                    ("day", "reservation_id"),
                ]
            },
        ),
    ]

    settled = time_column("at", "time", ordering="id")
    cost = dollar_column("cost_usd", "cost in USD")

    @display(description="tokens in, out")
    def tokens(self, entry: SpendEntry) -> str:
        """How many tokens it read and wrote."""
        return f"{entry.input_tokens}, {entry.output_tokens}"

    @display(description="agent", ordering="agent__slug")
    def agent_link(self, entry: SpendEntry) -> str:
        """Whose call it was."""
        return link(page_of("teams_agent", entry.agent.pk), entry.agent)

    @display(description="end user")
    def person(self, entry: SpendEntry) -> str:
        """Whom it was for."""
        if entry.end_user is None:
            return NOTHING
        return link(page_of("teams_enduser", entry.end_user.pk), entry.end_user)


@admin.register(SpendTotal)
class SpendTotalAdmin(TeamAdmin[SpendTotal]):
    """What each day and month of the team, an agent or an end user has cost so far."""

    list_display = [
        "begins_on",
        "kind",
        "whose",
        "spent",
        "calls",
        "input_tokens",
        "output_tokens",
        "team",
    ]
    list_filter = [
        ("kind", ChoiceFilter),
        ("agent", RelatedFilter),
        ("team", RelatedFilter),
        ("begins_on", DaysFilter),
    ]
    list_select_related = ["team", "agent", "end_user"]
    ordering = ["-begins_on", "kind", "-spent_usd"]
    search_fields = ["=end_user__external_id", "=agent__slug"]
    search_help_text = "The external id of an end user or the name of an agent"
    fieldsets = [
        (
            None,
            {
                "fields": [
                    ("begins_on", "kind", "team"),
                    ("whose", "spent"),
                    ("calls", "input_tokens", "output_tokens"),
                ]
            },
        ),
    ]

    spent = dollar_column("spent_usd", "spent in USD")

    @display(description="of")
    def whose(self, total: SpendTotal) -> str:
        """The agent or end user; nobody where it is the team's own."""
        if total.agent is not None:
            return link(page_of("teams_agent", total.agent.pk), total.agent)
        if total.end_user is not None:
            return link(page_of("teams_enduser", total.end_user.pk), total.end_user)
        return NOTHING
