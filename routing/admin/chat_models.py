"""Models: what a team may call, in which tier, at which price."""

from __future__ import annotations

from django.contrib import admin

from routing.models import ChatModel
from teams.admin.base import TeamAdmin
from teams.admin.display import label_column, time_column
from teams.admin.theme import ChoiceFilter, RelatedFilter, YesNoFilter
from teams.admin_permissions import ADMINS

from .columns import TIER_COLOURS, dollar_column


@admin.register(ChatModel)
class ChatModelAdmin(TeamAdmin[ChatModel]):
    """Models by tier; a team without any uses those of the server's settings."""

    add_roles = change_roles = delete_roles = ADMINS
    list_display = [
        "name",
        "tier_label",
        "provider",
        "paid_in",
        "paid_out",
        "context_window",
        "priority",
        "is_enabled",
        "team",
    ]
    list_filter = [
        ("team", RelatedFilter),
        ("tier", ChoiceFilter),
        ("provider", RelatedFilter),
        ("is_enabled", YesNoFilter),
    ]
    list_select_related = ["team", "provider"]
    search_fields = ["name"]
    fields = [
        "team",
        "provider",
        "name",
        "tier",
        "input_price",
        "output_price",
        "context_window",
        "max_output_tokens",
        "priority",
        "is_enabled",
        "created",
    ]
    readonly_fields = ["created"]
    help_texts = {
        "provider": "The endpoint that is asked for it.",
        "tier": "Fast for simple questions, powerful for hard ones, balanced between. The router"
        " chooses the tier by the question; agents may set a limit.",
        "is_enabled": "Off: it is not asked, and its prices stay for what was spent.",
    }
    created = time_column("created_at", "created")
    tier_label = label_column("tier", "tier", TIER_COLOURS)
    paid_in = dollar_column("input_price", "USD per 1,000 input tokens")
    paid_out = dollar_column("output_price", "USD per 1,000 output tokens")
