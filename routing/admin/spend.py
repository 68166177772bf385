"""What models cost, to read: every settled call, and the sums by day and month."""

from __future__ import annotations

from django.contrib import admin

from routing.domain.complexity import Tier
from routing.models import SpendEntry, SpendTotal
from teams.admin.base import TeamAdmin, section
from teams.admin.display import NOTHING, row_column, row_link, time_column
from teams.admin.filters import DaysFilter, value_filter
from teams.admin.theme import ChoiceFilter, RelatedFilter, display

from .columns import dollar_column

# Those of answers, and of what a model does in the background.
TIERS = (*(tier.value for tier in Tier), "extraction", "review", "judge")


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
        value_filter("tier", TIERS),
        ("agent", RelatedFilter),
        ("team", RelatedFilter),
        ("at", DaysFilter),
    ]
    list_select_related = ["team", "agent", "end_user"]
    ordering = ["-id"]
    search_fields = ["=model", "=end_user__external_id"]
    search_help_text = "The name of a model or the external id of an end user"
    fieldsets = [
        section(
            None,
            ("settled", "cost", "team"),
            ("model", "tier"),
            ("input_tokens", "output_tokens"),
            ("agent_link", "person"),
            ("day", "reservation_id"),
        )
    ]

    settled = time_column("at", "time", ordering="id")
    cost = dollar_column("cost_usd", "cost in USD")
    agent_link = row_column("agent", "agent", ordering="agent__slug")
    person = row_column("end_user", "end user")

    @display(description="tokens in, out")
    def tokens(self, entry: SpendEntry) -> str:
        """How many tokens it read and wrote."""
        return f"{entry.input_tokens}, {entry.output_tokens}"


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
        section(
            None,
            ("begins_on", "kind", "team"),
            ("whose", "spent"),
            ("calls", "input_tokens", "output_tokens"),
        )
    ]

    spent = dollar_column("spent_usd", "spent in USD")

    @display(description="agent or end user")
    def whose(self, total: SpendTotal) -> str:
        """The agent or end user; nobody where it is the team's own."""
        owner = total.agent or total.end_user
        return NOTHING if owner is None else row_link(owner)
