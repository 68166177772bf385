"""Memories: found, read and acted on; their text is never edited."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse

from memory.domain.types import Status
from memory.models import Memory
from memory.models.memory import SINCE_EVER
from teams.admin.base import section
from teams.admin.confirm import list_action, page_action
from teams.admin.display import page_of
from teams.admin.filters import DaysFilter
from teams.admin.theme import (
    AutocompleteFilter,
    ChoiceFilter,
    NumberRangeFilter,
    RelatedFilter,
    YesNoFilter,
    action,
)

from .cards import card_of
from .changes import DELETE, PIN, RESTORE, SAY_WRONG, UNPIN, correcting
from .memory_display import MemoryDisplay
from .memory_filters import StandingFilter, TagFilter
from .memory_page import memory_page
from .rewriting import rewrite_page


@admin.register(Memory)
class MemoryAdmin(MemoryDisplay):
    """The memories of the login's teams, newest first."""

    list_display = [
        "beginning",
        "status_label",
        "kind",
        "tier",
        "importance",
        "pin",
        "created",
        "agent",
        "end_user",
        "project",
        "about",
        "version",
        "team",
    ]
    list_filter = [
        ("team", RelatedFilter),
        StandingFilter,
        ("status", ChoiceFilter),
        ("memory_type", ChoiceFilter),
        ("tier", ChoiceFilter),
        ("is_pinned", YesNoFilter),
        ("importance", NumberRangeFilter),
        TagFilter,
        ("agent", AutocompleteFilter),
        ("end_user", AutocompleteFilter),
        ("project", AutocompleteFilter),
        ("created_at", DaysFilter),
    ]
    list_select_related = ["team", "agent", "end_user", "project"]
    list_fullwidth = True
    ordering = ["-created_at"]
    is_found_by_id = True
    when_empty = (
        "Nothing has been remembered yet. Issue an API key under People and let an agent talk."
    )
    search_fields = ["content", "subject"]
    search_help_text = "Words of the text or the subject, or a whole id"
    actions = ["pin_selected", "unpin_selected", "delete_selected_memories"]
    actions_detail = [
        "pin_this",
        "unpin_this",
        "correct_this",
        "is_wrong_this",
        "soft_delete_this",
        "restore_this",
    ]
    fieldsets = [
        section(None, "text", "subject"),
        section(
            "State",
            ("status", "tier", "is_pinned"),
            ("importance", "confidence", "said_again"),
            ("version", "valid_from_time", "valid_to_time"),
        ),
        section(
            "What it is",
            ("memory_type", "scope", "category"),
            ("agent", "end_user", "project"),
            ("tag_words", "form", "payload_document"),
        ),
        section(
            "Origin",
            ("team", "conversation_page", "actor"),
            ("extractor", "extraction_pass", "external_id"),
            ("created", "updated"),
            "whole_id",
        ),
    ]

    pin_selected = list_action("pin_selected", PIN, "Pin")
    unpin_selected = list_action("unpin_selected", UNPIN, "Unpin")
    delete_selected_memories = list_action(
        "delete_selected_memories", DELETE, "Delete (text and history stay)"
    )
    pin_this = page_action("pin_this", PIN, "Pin", icon="keep")
    unpin_this = page_action("unpin_this", UNPIN, "Unpin", icon="keep_off")
    soft_delete_this = page_action("soft_delete_this", DELETE, "Delete", icon="delete")
    restore_this = page_action("restore_this", RESTORE, "Restore", icon="undo")
    is_wrong_this = page_action("is_wrong_this", SAY_WRONG, "It is wrong", icon="flag")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Memory]:
        """All of them, so that those of a team are read in the order of their times."""
        return super().get_queryset(request).filter(created_at__gt=SINCE_EVER)

    def get_object(
        self, request: HttpRequest, object_id: str, from_field: str | None = None
    ) -> Memory | None:
        """The memory with the names its page shows."""
        found: Memory | None = super().get_object(request, object_id, from_field)
        if found is None:
            return None
        names = ("team", "agent", "end_user", "project", "conversation")
        row: Memory = Memory.objects.select_related(*names).get(pk=found.pk)
        return row

    def page_context(self, request: HttpRequest, object_id: str) -> dict[str, Any]:
        """The memory with its sources, versions, disputes, relations, use and history."""
        memory = self.get_object(request, object_id)
        return {"memory_page": memory and memory_page(memory=memory), "title": "Memory"}

    def get_actions_detail(self, request: HttpRequest, object_id: str) -> list[Any]:
        """Buttons that would change something, for those who may press them."""
        memory = self.get_object(request, object_id)
        if memory is None:
            return []
        useful = {
            "pin_this": memory.is_live and not memory.is_pinned,
            "unpin_this": memory.is_pinned,
            "correct_this": memory.is_live,
            "is_wrong_this": memory.is_live,
            "soft_delete_this": memory.status != Status.SOFT_DELETED,
            "restore_this": memory.status in (Status.SOFT_DELETED, Status.ARCHIVED),
        }
        return [
            button
            for button in super().get_actions_detail(request, object_id)
            if useful[button.action_name.removeprefix("memory_memory_")]
        ]

    @action(description="Correct", permissions=["act"], url_path="correct", icon="edit")
    def correct_this(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Write a right text in place of this memory."""
        memory = self.get_object(request, object_id)
        if memory is None:
            raise Http404
        status = memory.get_status_display().replace("_", " ")
        return rewrite_page(
            self,
            request,
            row=memory,
            change=correcting,
            cards=[card_of(memory)],
            page=page_of("memory_memory", object_id),
            refusal="" if memory.is_live else f"It is {status} by now and cannot be corrected.",
        )
