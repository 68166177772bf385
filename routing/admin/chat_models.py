"""Models: what a team may call, in which tier, at which price."""

from __future__ import annotations

from django.contrib import admin

from routing.models import ChatModel
from teams.admin.base import TeamAdmin
from teams.admin.display import moment
from teams.admin.theme import ChoiceFilter, RelatedFilter, YesNoFilter, display
from teams.admin_permissions import ADMINS

from .colours import TIER_COLOURS


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

    @display(description="tier", ordering="tier", label=TIER_COLOURS)
    def tier_label(self, model: ChatModel) -> str:
        """Its tier, coloured."""
        return model.tier

    @display(description="USD per 1,000 read", ordering="input_price")
    def paid_in(self, model: ChatModel) -> str:
        """The price of what it reads."""
        return f"{model.input_price.normalize():f}"

    @display(description="USD per 1,000 written", ordering="output_price")
    def paid_out(self, model: ChatModel) -> str:
        """The price of what it writes."""
        return f"{model.output_price.normalize():f}"

    @display(description="created", ordering="created_at")
    def created(self, model: ChatModel) -> str:
        """When it was entered."""
        return moment(model.created_at)
