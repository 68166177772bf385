"""People, their conversations with the messages, and saved states of threads."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.core.paginator import Paginator
from django.db.models import Field, QuerySet
from django.http import HttpRequest
from django.template.defaultfilters import filesizeformat
from django.urls import reverse

from teams.admin_permissions import ADMINS
from teams.models import Checkpoint, Conversation, EndUser, Message
from teams.models.people import Role

from .base import TeamAdmin, section
from .display import actor_column, as_json, cell, time_column
from .filters import DaysFilter
from .theme import AutocompleteFilter, RelatedFilter, display

PAGE_SIZE = 50


def message_url(*, conversation_id: UUID, position: int) -> str:
    """Where that message stands on its conversation's page."""
    page = reverse("admin:teams_conversation_change", args=[conversation_id])
    return f"{page}?page={(position - 1) // PAGE_SIZE + 1}#message-{position}"


@admin.register(Conversation)
class ConversationAdmin(TeamAdmin[Conversation]):
    """Every word that was said, to read and never to change."""

    list_display = [
        "thread",
        "agent",
        "end_user",
        "project",
        "last_position",
        "revision",
        "team",
        "created",
        "closed",
    ]
    list_filter = [
        ("team", RelatedFilter),
        ("agent", AutocompleteFilter),
        ("end_user", AutocompleteFilter),
        ("project", AutocompleteFilter),
        ("created_at", DaysFilter),
    ]
    list_select_related = ["team", "agent", "end_user", "project"]
    ordering = ["-created_at"]
    is_found_by_id = True
    search_fields = ["thread_id", "end_user__external_id", "end_user__display_name"]
    fieldsets = [
        section(
            None,
            "thread_id",
            ("agent", "end_user", "project"),
            ("last_position", "extracted_position", "revision"),
            ("team", "created", "closed"),
        )
    ]
    readonly_fields = ["created", "closed"]

    created = time_column("created_at", "started")
    closed = time_column("closed_at", "closed")

    def page_context(self, request: HttpRequest, object_id: str) -> dict[str, Any]:
        conversation = self.get_object(request, object_id)
        if conversation is None:
            return {}
        rows = Message.objects.filter(team_id=conversation.team_id, conversation=conversation)
        pages = Paginator(rows.order_by("position"), PAGE_SIZE)
        return {"page": pages.get_page(request.GET.get("page"))}

    @display(description="thread", ordering="thread_id")
    def thread(self, conversation: Conversation) -> str:
        return cell(conversation.thread_id)


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
        return super().get_queryset(request).defer("data")

    @display(description="thread", ordering="thread_id")
    def thread(self, checkpoint: Checkpoint) -> str:
        return checkpoint.thread_id

    @display(description="size", ordering="size")
    def bytes(self, checkpoint: Checkpoint) -> str:
        return filesizeformat(checkpoint.size)

    @display(description="state")
    def document(self, checkpoint: Checkpoint) -> str:
        if len(checkpoint.data) <= SHOWN_CHARS:
            return as_json(json.loads(checkpoint.data))
        return f"{checkpoint.data[:SHOWN_CHARS]} … and {len(checkpoint.data) - SHOWN_CHARS} more."
