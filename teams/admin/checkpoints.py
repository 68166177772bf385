"""Saved states of threads, to read."""

from __future__ import annotations

import json

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.template.defaultfilters import filesizeformat

from teams.admin_permissions import ADMINS
from teams.models import Checkpoint

from .actors import actor_column
from .base import TeamAdmin, section
from .display import as_json, time_column
from .filters import DaysFilter
from .theme import AutocompleteFilter, RelatedFilter, display

# A larger state is shown in part, as a page with a megabyte helps nobody.
SHOWN_CHARS = 20_000


@admin.register(Checkpoint)
class CheckpointAdmin(TeamAdmin[Checkpoint]):
    """Every version that is kept, newest first, for the admins of the team."""

    view_roles = ADMINS
    list_display = ["thread", "end_user", "agent", "version", "bytes", "saved", "by", "team"]
    list_filter = [
        ("team", RelatedFilter),
        ("agent", AutocompleteFilter),
        ("end_user", AutocompleteFilter),
        ("saved_at", DaysFilter),
    ]
    list_select_related = ["team", "agent", "end_user"]
    ordering = ["-saved_at", "-version"]
    search_fields = ["thread_id", "end_user__external_id", "end_user__display_name"]
    search_help_text = "A thread or an end user"
    fieldsets = [
        section(
            None,
            "thread",
            ("end_user", "agent", "team"),
            ("version", "bytes"),
            ("saved", "by"),
            "document",
        )
    ]

    saved = time_column("saved_at", "saved")
    by = actor_column()

    def get_queryset(self, request: HttpRequest) -> QuerySet[Checkpoint]:
        """Without the states, which a list does not show."""
        return super().get_queryset(request).defer("data")

    @display(description="thread", ordering="thread_id")
    def thread(self, checkpoint: Checkpoint) -> str:
        """The thread's name."""
        return checkpoint.thread_id

    @display(description="size", ordering="size")
    def bytes(self, checkpoint: Checkpoint) -> str:
        """How large its JSON is."""
        return filesizeformat(checkpoint.size)

    @display(description="state")
    def document(self, checkpoint: Checkpoint) -> str:
        """The state as JSON, or its beginning."""
        if len(checkpoint.data) <= SHOWN_CHARS:
            return as_json(json.loads(checkpoint.data))
        return f"{checkpoint.data[:SHOWN_CHARS]} … and {len(checkpoint.data) - SHOWN_CHARS} more."
