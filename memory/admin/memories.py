"""Memories: found, read and acted on; their text is never edited."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse

from memory.domain.types import Status
from memory.models import Memory
from memory.models.memory import SINCE_EVER
from teams.admin.confirm import confirm_and_run
from teams.admin.filters import DaysFilter
from teams.admin.theme import (
    AutocompleteFilter,
    ChoiceFilter,
    NumberRangeFilter,
    RelatedFilter,
    TextFilter,
    YesNoFilter,
    action,
)

from .changes import DELETE, PIN, UNPIN
from .memory_display import MemoryDisplay
from .memory_page import memory_page


class TagFilter(TextFilter):
    """By one whole tag."""

    title = "tag"
    parameter_name = "tag"

    def queryset(self, request: HttpRequest, queryset: QuerySet[Memory]) -> QuerySet[Memory]:
        """Memories that carry the tag."""
        del request
        tag = (self.value() or "").strip()
        return queryset.filter(tag_rows__name=tag) if tag else queryset


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
    search_fields = ["content", "subject"]
    search_help_text = "Words of the text or the subject, or a whole id"
    actions = ["pin_selected", "unpin_selected", "delete_selected_memories"]
    actions_detail = ["pin_this", "unpin_this", "delete_this"]
    fieldsets = [
        (None, {"fields": ["text", "subject"]}),
        (
            "State",
            {
                "fields": [
                    ("status", "tier", "is_pinned"),
                    ("importance", "confidence", "corroboration"),
                    ("version", "valid_from_time", "valid_to_time"),
                ]
            },
        ),
        (
            "What it is",
            {
                "fields": [
                    ("memory_type", "scope", "category"),
                    ("agent", "end_user", "project"),
                    ("tag_words", "form", "payload_document"),
                ]
            },
        ),
        (
            "Origin",
            {
                "fields": [
                    ("team", "conversation_page", "actor"),
                    ("extractor", "extraction_pass", "external_id"),
                    ("created", "updated", "whole_id"),
                ]
            },
        ),
    ]

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

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """The memory with its sources, versions, disputes, relations, use and history."""
        memory = self.get_object(request, object_id)
        context = {
            "memory_page": memory and memory_page(memory=memory),
            "title": "Memory",
            **(extra_context or {}),
        }
        return super().change_view(request, object_id, form_url, context)

    def get_actions_detail(self, request: HttpRequest, object_id: str) -> list[Any]:
        """Buttons that would change something, for those who may press them."""
        memory = self.get_object(request, object_id)
        if memory is None:
            return []
        useful = {
            "pin_this": memory.is_live and not memory.is_pinned,
            "unpin_this": memory.is_pinned,
            "delete_this": memory.status != Status.SOFT_DELETED,
        }
        return [
            button
            for button in super().get_actions_detail(request, object_id)
            if useful[button.action_name.removeprefix("memory_memory_")]
        ]

    @action(description="Pin", permissions=["act"])
    def pin_selected(self, request: HttpRequest, queryset: QuerySet[Memory]) -> HttpResponse | None:
        """Pin the chosen memories."""
        return confirm_and_run(self, request, queryset, PIN)

    @action(description="Unpin", permissions=["act"])
    def unpin_selected(
        self, request: HttpRequest, queryset: QuerySet[Memory]
    ) -> HttpResponse | None:
        """Let the chosen memories go."""
        return confirm_and_run(self, request, queryset, UNPIN)

    @action(description="Delete (text and history stay)", permissions=["act"])
    def delete_selected_memories(
        self, request: HttpRequest, queryset: QuerySet[Memory]
    ) -> HttpResponse | None:
        """Take the chosen memories out of every read."""
        return confirm_and_run(self, request, queryset, DELETE)

    @action(description="Pin", permissions=["act"], url_path="pin", icon="keep")
    def pin_this(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Pin this memory."""
        return self.change_this(request, object_id, PIN)

    @action(description="Unpin", permissions=["act"], url_path="unpin", icon="keep_off")
    def unpin_this(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Let this memory go."""
        return self.change_this(request, object_id, UNPIN)

    @action(description="Delete", permissions=["act"], url_path="soft-delete", icon="delete")
    def delete_this(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Take this memory out of every read."""
        return self.change_this(request, object_id, DELETE)
