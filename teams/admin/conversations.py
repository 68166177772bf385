"""Conversations, with their messages to read."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import admin
from django.core.paginator import Paginator
from django.http import HttpRequest
from django.urls import reverse

from teams.models import Conversation, Message

from .base import TeamAdmin, section
from .display import cell, time_column
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
        """The conversation with a page of its messages."""
        conversation = self.get_object(request, object_id)
        if conversation is None:
            return {}
        rows = Message.objects.filter(team_id=conversation.team_id, conversation=conversation)
        pages = Paginator(rows.order_by("position"), PAGE_SIZE)
        return {"page": pages.get_page(request.GET.get("page"))}

    @display(description="thread", ordering="thread_id")
    def thread(self, conversation: Conversation) -> str:
        """The thread's name."""
        return cell(conversation.thread_id)
