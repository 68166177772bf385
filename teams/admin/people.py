"""End users."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import Field
from django.http import HttpRequest

from teams.admin_permissions import ADMINS
from teams.models import EndUser
from teams.models.people import Role

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
    help_texts = {
        "role": "A member hears what other members said about the work; a guest does not.",
        "has_insights": "Insights about this person are made.",
    }

    created = time_column("created_at", "created")

    def formfield_for_choice_field(
        self, db_field: Field[Any, Any], request: HttpRequest, **kwargs: Any
    ) -> Any:  # Any: Django's own signature
        """Names what an empty role means."""
        if db_field.name == "role":
            kwargs["choices"] = [("", "as the team's new people"), *Role.choices]
        return super().formfield_for_choice_field(db_field, request, **kwargs)
