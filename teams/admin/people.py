"""End users."""

from __future__ import annotations

from django.contrib import admin

from teams.admin_permissions import ADMINS
from teams.models import EndUser

from .base import TeamAdmin
from .display import time_column
from .theme import RelatedFilter


@admin.register(EndUser)
class EndUserAdmin(TeamAdmin[EndUser]):
    """People the agents talk with; they appear when an agent first names them.

    What is known of them is in their memories; what would change it waits as consent requests.
    """

    change_roles = ADMINS
    list_display = ["external_id", "display_name", "role", "team", "created"]
    list_filter = [("team", RelatedFilter), "role"]
    list_select_related = ["team"]
    search_fields = ["external_id", "display_name"]
    fields = ["team", "external_id", "display_name", "role", "has_insights", "created"]
    readonly_fields = ["external_id", "created"]

    created = time_column("created_at", "created")
